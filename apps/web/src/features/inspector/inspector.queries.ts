import { queryOptions } from "@tanstack/react-query";
import type { BuildWarning } from "@towpath/core/build/contract";
import type { Manifest } from "@towpath/mcp/manifest";
import type { BranchItem } from "../deployment/deployment.queries.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "../project-screen/project-screen.queries.ts";
import { getBranchManifest } from "./inspector.functions.ts";

export type BranchManifest = {
  readonly buildId: string;
  readonly commitSha: string;
  readonly manifest: Manifest | null;
  readonly warnings: readonly BuildWarning[];
} | null;

/** A branch's manifest; manifest lists are renewed every 30 s (PRJ-7). */
export const branchManifestQuery = (key: ProjectKey, branchId: string) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "manifest", branchId],
    queryFn: ({ signal }): Promise<BranchManifest> => getBranchManifest({ data: { ...key, branchId }, signal }),
    refetchInterval: 30_000,
    ...projectCache,
  });

// Apart from the page: a loader needs it, and must not pull the page into what every visitor loads.

/** The branch whose deployment is inspected: the one in the address, else production, else any that is live. */
export function inspectedBranch(branches: readonly BranchItem[], branchId: string | undefined): BranchItem | null {
  const live = branches.filter((branch) => branch.deployment !== null);
  return live.find((branch) => branch.id === branchId) ?? live.find((branch) => branch.isDefault) ?? live[0] ?? null;
}
