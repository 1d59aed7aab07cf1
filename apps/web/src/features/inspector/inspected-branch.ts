import type { BranchItem } from "../deployment/deployment.queries.ts";

// Apart from the page: a loader needs it, and must not pull the page into what every visitor loads.

/** The branch whose deployment is inspected: the one in the address, else production, else any that is live. */
export function inspectedBranch(branches: readonly BranchItem[], branchId: string | undefined): BranchItem | null {
  const live = branches.filter((branch) => branch.deployment !== null);
  return live.find((branch) => branch.id === branchId) ?? live.find((branch) => branch.isDefault) ?? live[0] ?? null;
}
