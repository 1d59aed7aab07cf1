import { authorizeProject } from "../authorize/index.ts";
import { buildStatusSchema } from "../build/build-contract.schema.ts";
import { readManifest } from "../build/internal.ts";
import type { Context } from "../context/index.ts";
import { mcpUrl } from "../server-url/index.ts";
import { selectBranches } from "./deployment.store.ts";
import type { BranchView } from "./deployment.view.ts";

/** The branches of a project that have not ended, the default one first, with what is live on each (PRJ-2). */
export async function listBranchesWithDeployments(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string };
}): Promise<readonly BranchView[]> {
  const { ctx, input } = call;
  const { project } = await authorizeProject(ctx, "project.read", input);
  const rows = await selectBranches(ctx.db, project.id);
  return rows.map(({ branch, latestBuild, deployment }) => ({
    id: branch.id,
    name: branch.name,
    isDefault: branch.isDefault,
    prNumber: branch.pullRequestNumber,
    prUrl: branch.pullRequestUrl,
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
  }));
}
