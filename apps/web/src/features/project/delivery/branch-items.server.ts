import type { Context } from "@towpath/core/context";
import type { BuildWarning } from "@towpath/core/delivery/build/contract";
import { type BranchView, getBuildByDeployment, listBranchesWithDeployments } from "@towpath/core/delivery/deployment";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";

export type BranchItem = Omit<BranchView, "latestBuild" | "liveBuild"> & {
  readonly latestBuild: LatestBuild | null;
  /** The live build of this branch; it may be older than the latest build. */
  readonly liveBuild: LiveBuild | null;
};

/** With its manifest if requested. */
type LatestBuild = Omit<NonNullable<BranchView["latestBuild"]>, "manifest"> &
  Partial<Pick<NonNullable<BranchView["latestBuild"]>, "manifest">>;

type LiveBuild = NonNullable<BranchView["liveBuild"]> & {
  /** How many items production offers; null when its manifest cannot be read, and for previews. */
  readonly counts: { tools: number; resources: number; templates: number; prompts: number } | null;
  /** Of production; none for previews. */
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
    branches.map(async ({ latestBuild, liveBuild, ...branch }) => {
      const latest = withManifests ? latestBuild : latestBuild && withoutManifest(latestBuild);
      const offered = branch.isDefault && branch.deployment ? await offeredBy(ctx, branch.deployment.id) : nothingRead;
      return { ...branch, latestBuild: latest, liveBuild: liveBuild && { ...liveBuild, ...offered } };
    }),
  );
}

function withoutManifest({ manifest: _manifest, ...build }: NonNullable<BranchView["latestBuild"]>) {
  return build;
}

type Offered = Pick<LiveBuild, "counts" | "warnings">;

const nothingRead: Offered = { counts: null, warnings: [] };

async function offeredBy(ctx: Context, deploymentId: string): Promise<Offered> {
  const { manifest, warnings } = await getBuildByDeployment({ ctx, input: { deploymentId } });
  const counts = manifest && {
    tools: manifest.tools.length,
    resources: manifest.resources.length,
    templates: manifest.templates.length,
    prompts: manifest.prompts.length,
  };
  return { counts, warnings };
}
