import { branch, build, deployment } from "@towpath/db/schema";
import { and, desc, eq, isNull, like, or, type SQL } from "drizzle-orm";
import { authorizeProject } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";

/** A deployment by what people know of it: its commit. */
export type DeployedCommit = {
  readonly id: string;
  readonly buildId: string;
  readonly commitSha: string;
  /** Of a package; null for a commit. */
  readonly packageVersion: string | null;
  /** Where in the repository its code is; null: at the top. */
  readonly rootDirectory: string | null;
  readonly commitMessage: string | null;
  readonly branch: string;
  readonly createdAt: string;
};

const maxListed = 100;
/** As many as a query of the request log may name. */
const maxFound = 200;

type Project = { readonly orgSlug: string; readonly projectName: string };

/** The newest deployments of a project, of all branches, at most 100. */
export async function listRecentDeployments({ ctx, input }: Call<Project>): Promise<readonly DeployedCommit[]> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const rows = await selectCommits(ctx, eq(deployment.projectId, project.id)).limit(maxListed);
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
}

/**
 * The deployments that a text names by a deployment's id, a package's version, or a commit or its beginning: newest
 * first, at most 200.
 *
 * @throws TowpathError `invalid_input` when the project has none
 */
export async function findDeployments(call: Call<Project & { readonly text: string }>): Promise<readonly string[]> {
  const { ctx, input } = call;
  const { project } = await authorizeProject(ctx, "project.read", input);
  const text = input.text.trim().toLowerCase();
  const meant = or(
    isId(text) ? eq(deployment.id, text) : undefined,
    // A package's commit is a digest of ours, which nobody types.
    /^[0-9a-f]{4,40}$/.test(text) ? and(like(build.commitSha, `${text}%`), isNull(build.packageVersion)) : undefined,
    eq(build.packageVersion, input.text.trim()),
  );
  const ofProject = eq(deployment.projectId, project.id);
  const rows = await selectCommits(ctx, and(ofProject, meant)).limit(maxFound);
  if (rows.length > 0) return rows.map(({ id }) => id);
  const message = `This server has no deployment “${input.text}”. Use a commit or its first four characters or more, or the version of a package.`;
  throw new TowpathError("invalid_input", message, { fields: { deployment: message } });
}

/** The commit of one deployment; null when the project has no such deployment, or no longer. */
export async function findDeployedCommit({
  ctx,
  input,
}: Call<Project & { readonly deploymentId: string }>): Promise<DeployedCommit | null> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  if (!isId(input.deploymentId)) return null;
  const own = and(eq(deployment.projectId, project.id), eq(deployment.id, input.deploymentId));
  const [row] = await selectCommits(ctx, own).limit(1);
  return row ? { ...row, createdAt: row.createdAt.toISOString() } : null;
}

const selectCommits = ({ db }: Context, where: SQL | undefined) =>
  db
    .select({
      id: deployment.id,
      buildId: deployment.buildId,
      commitSha: build.commitSha,
      packageVersion: build.packageVersion,
      rootDirectory: build.rootDirectory,
      commitMessage: build.commitMessage,
      branch: branch.name,
      createdAt: deployment.createdAt,
    })
    .from(deployment)
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(branch, eq(branch.id, deployment.branchId))
    .where(where)
    .orderBy(desc(deployment.createdAt), desc(deployment.id))
    .$dynamic();
