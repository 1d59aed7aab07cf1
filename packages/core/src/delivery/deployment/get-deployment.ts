import { deployment } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorizeProject, type Permission } from "../../authorize/index.ts";
import type { Call, Context, ProjectAccess } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { mcpUrl } from "../../projects/server-url/index.ts";
import { pullRequestOfForkBranch } from "../branch/index.ts";
import { buildStatusSchema, buildTriggerSchema } from "../build/build-contract.schema.ts";
import { type BuildView, buildView, readManifest, selectBuilds } from "../build/internal.ts";
import { deploymentView, projectIdOfDeployment, selectBranches, selectDeployments } from "./deployment.store.ts";
import type { BranchView, DeploymentView } from "./deployment.view.ts";

/** One deployment (PRJ-3, PRJ-4). */
export async function getDeployment({ ctx, input }: Call<{ readonly deploymentId: string }>): Promise<DeploymentView> {
  await authorizeDeployment(ctx, "project.read", input.deploymentId);
  const [row] = await selectDeployments(ctx.db, eq(deployment.id, input.deploymentId));
  if (!row) throw notFound("deployment");
  return deploymentView(ctx, row);
}

/** @throws TowpathError `not_found` naming the deployment, whether it doesn't exist or belongs to others */
export async function authorizeDeployment(
  ctx: Context,
  permission: Permission,
  deploymentId: string,
): Promise<ProjectAccess> {
  const projectId = isId(deploymentId) ? await projectIdOfDeployment(ctx.db, deploymentId) : undefined;
  if (projectId === undefined) throw notFound("deployment");
  try {
    return await authorizeProject(ctx, permission, { projectId });
  } catch (error) {
    if (error instanceof TowpathError && error.code === "not_found") throw notFound("deployment");
    throw error;
  }
}

/** The newest deployment of a project, on any branch; null when there is none (PRJ-13). */
export async function getMostRecentDeployment({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly projectName: string }>): Promise<DeploymentView | null> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const [row] = await selectDeployments(ctx.db, eq(deployment.projectId, project.id)).limit(1);
  return row ? deploymentView(ctx, row) : null;
}

/** The build of a deployment (PRJ-13). */
export async function getBuildByDeployment(call: Call<{ readonly deploymentId: string }>): Promise<BuildView> {
  const { ctx, input } = call;
  await authorizeDeployment(ctx, "build.read", input.deploymentId);
  const [row] = await selectBuilds(ctx.db, eq(deployment.id, input.deploymentId)).limit(1);
  if (!row || row.build.id !== row.deployment?.buildId) throw notFound("build");
  return buildView(ctx, row);
}

/** The branches of a project that have not ended, the default one first, with their live deployments (PRJ-2). */
export async function listBranchesWithDeployments({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly projectName: string }>): Promise<readonly BranchView[]> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const rows = await selectBranches(ctx.db, project.id);
  return rows.map(({ branch, latestBuild, deployment, liveBuild, liveSince, ...rollback }) => ({
    id: branch.id,
    name: branch.name,
    isDefault: branch.isDefault,
    prNumber: branch.pullRequestNumber,
    prUrl: branch.pullRequestUrl,
    isUnbuiltFork: latestBuild === null && pullRequestOfForkBranch(branch.name) !== null,
    skipped:
      branch.skippedCommitSha !== null && branch.skippedAt !== null
        ? {
            commitSha: branch.skippedCommitSha,
            commitMessage: branch.skippedCommitMessage,
            at: branch.skippedAt.toISOString(),
          }
        : null,
    latestBuild: latestBuild && {
      ...latestBuild,
      status: buildStatusSchema.parse(latestBuild.status),
      manifest: readManifest(latestBuild.manifest),
      createdAt: latestBuild.createdAt.toISOString(),
    },
    deployment: deployment && {
      ...deployment,
      isLive: true,
      url: mcpUrl(ctx.serverUrlTemplate, deployment.slug),
    },
    liveBuild: liveBuild &&
      liveSince && {
        ...liveBuild,
        trigger: buildTriggerSchema.catch("push").parse(liveBuild.trigger),
        createdAt: liveBuild.createdAt.toISOString(),
        liveSince: liveSince.toISOString(),
        ...rollback,
      },
  }));
}
