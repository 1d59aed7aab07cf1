import type { BuildWarning } from "@towpath/core/build/contract";
import type { Context } from "@towpath/core/context";
import { type BranchView, getBuildByDeployment, listBranchesWithDeployments } from "@towpath/core/deployment";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";

export type BranchItem = Omit<BranchView, "latestBuild"> & {
  readonly latestBuild: LatestBuild | null;
  /** The build that serves this branch now; it may be older than the latest one. Production only. */
  readonly liveBuild: LiveBuild | null;
};

/** With its manifest where it was asked for. */
type LatestBuild = Omit<NonNullable<BranchView["latestBuild"]>, "manifest"> &
  Partial<Pick<NonNullable<BranchView["latestBuild"]>, "manifest">>;

type LiveBuild = {
  readonly id: string;
  readonly commitSha: string;
  readonly commitMessage: string | null;
  readonly createdAt: string;
  /** How many items the server offers; null when its manifest cannot be read. */
  readonly counts: { tools: number; resources: number; templates: number; prompts: number } | null;
  readonly warnings: readonly BuildWarning[];
};

/** Branches with their live deployment (PRJ-2). Pages only need the counts of a manifest, so they leave it out. */
export async function branchItems(
  ctx: Context,
  key: ProjectKey,
  { withManifests }: { readonly withManifests: boolean },
): Promise<readonly BranchItem[]> {
  const branches = await listBranchesWithDeployments({ ctx, input: key });
  return Promise.all(
    branches.map(async ({ latestBuild, ...branch }) => {
      const latest = withManifests ? latestBuild : latestBuild && withoutManifest(latestBuild);
      const liveBuild = branch.isDefault && branch.deployment ? await liveBuildOf(ctx, branch.deployment.id) : null;
      return { ...branch, latestBuild: latest, liveBuild };
    }),
  );
}

function withoutManifest({ manifest: _manifest, ...build }: NonNullable<BranchView["latestBuild"]>) {
  return build;
}

async function liveBuildOf(ctx: Context, deploymentId: string): Promise<LiveBuild> {
  const { id, commitSha, commitMessage, createdAt, ...build } = await getBuildByDeployment({
    ctx,
    input: { deploymentId },
  });
  const { manifest } = build;
  const counts = manifest && {
    tools: manifest.tools.length,
    resources: manifest.resources.length,
    templates: manifest.templates.length,
    prompts: manifest.prompts.length,
  };
  return { id, commitSha, commitMessage, createdAt, counts, warnings: build.warnings };
}
