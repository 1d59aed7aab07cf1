import type { Database } from "@towpath/db";
import { branch, build, githubInstallation, gitSource, project } from "@towpath/db/schema";
import { and, asc, desc, eq, gte, isNull, lt, notInArray } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context, SourceServices } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import type { BranchAtSource } from "../../ports/index.ts";
import { atHost, numbersOf } from "../github-connection/numbers.schema.ts";
import { sourceOf } from "../source/internal.ts";
import { askGitRemote } from "./ask-git-remote.ts";
import { type BranchSettled, type SyncTarget, settleBranch } from "./settle-branch.ts";

type SyncBranchInput = { readonly projectId: string; readonly branch: string };

const maxRequests = 5;

/**
 * Brings one branch of one project to its current state at its host: builds its head, follows a renamed repository or
 * another default branch, or ends the preview of a branch that was deleted or whose pull request was closed (BLD-7).
 *
 * The request to the host runs outside any transaction. Its response is applied under the branch's lock, and only if no
 * other decision about the branch was made since the request; otherwise it is repeated. So each decision is based on a
 * response that is newer than the previous decision, and the live commit never goes back (BLD-11, decision 007). A head
 * that already has a build gets no second one (BLD-12).
 */
export async function syncBranch({ ctx, input }: Call<SyncBranchInput, SourceServices>): Promise<BranchSettled> {
  authorizePlatform(ctx);
  for (let requests = 0; requests < maxRequests; requests++) {
    const before = await readTarget(ctx.db, input);
    if (!before) return { outcome: "unknown" };
    const since = await builtBefore(ctx.db, before);
    const seen =
      sourceOf(before.project)?.kind === "git"
        ? await askGitRemote(ctx, before, since)
        : await throughInstallations(ctx, before, since);
    const settled = await ctx.db.transaction((tx) => settleBranch(tx, ctx, { ...before, seen }));
    if (settled) return settled;
  }
  throw new TowpathError("conflict", "The branch kept changing during the requests to its host.");
}

async function throughInstallations(
  ctx: Context<"repositories">,
  { project: of, branch: { name: branch } }: SyncTarget,
  since: string | null,
): Promise<BranchAtSource> {
  const source = sourceOf(of);
  const installationIds = await usableInstallations(ctx.db, of);
  if (source?.kind !== "github" || installationIds.length === 0) return { kind: "no-access" };
  const { repositoryId } = source;
  const seen = await ctx.repositories.branch({ installationIds, repositoryId, branch, since });
  return seen.kind === "seen" && source.branch !== null ? { ...seen, defaultBranch: source.branch } : seen;
}

async function readTarget(db: Database, input: SyncBranchInput): Promise<SyncTarget | undefined> {
  if (!isId(input.projectId)) return undefined;
  const [row] = await db
    .select({ project, branch, git: gitSource })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .leftJoin(gitSource, eq(gitSource.projectId, project.id))
    .where(and(eq(branch.projectId, input.projectId), eq(branch.name, input.branch)));
  return row;
}

/**
 * The commit that the branch was last built of, for a project that builds only what changes a watched path (BLD-15). A
 * canceled build and a redeploy of an older commit don't count: nothing since the commit before has been built.
 */
async function builtBefore(db: Database, { project: of, branch: target }: SyncTarget): Promise<string | null> {
  if (of.watchPaths.length === 0) return null;
  const [newest] = await db
    .select({ commitSha: build.commitSha })
    .from(build)
    .where(
      and(
        eq(build.branchId, target.id),
        notInArray(build.status, ["canceled"]),
        notInArray(build.trigger, ["redeploy"]),
      ),
    )
    .orderBy(desc(build.sequence))
    .limit(1);
  return newest?.commitSha ?? null;
}

/**
 * The project's own installation first, then the organization's others of the same App: after a transfer of the repository
 * or a reinstallation, another one may have access. At another App's host the repository's id is that of a stranger.
 */
async function usableInstallations(db: Database, of: SyncTarget["project"]): Promise<readonly number[]> {
  if (of.repositoryId === null) return [];
  const { from, below } = numbersOf(atHost(of.repositoryId).connection);
  const rows = await db
    .select({ id: githubInstallation.installationId })
    .from(githubInstallation)
    .where(
      and(
        eq(githubInstallation.organizationId, of.organizationId),
        isNull(githubInstallation.suspendedAt),
        gte(githubInstallation.installationId, from),
        lt(githubInstallation.installationId, below),
      ),
    )
    .orderBy(asc(githubInstallation.createdAt), asc(githubInstallation.installationId));
  const ids = rows.map((row) => row.id);
  return ids.toSorted((one, two) => Number(two === of.installationId) - Number(one === of.installationId));
}
