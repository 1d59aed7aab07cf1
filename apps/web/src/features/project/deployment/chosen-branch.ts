import type { BranchItem } from "~/features/project/delivery/deployment.functions.ts";

// Not in the page's file: the loader uses it, and importing the page would add it to every visitor's first script.

type LiveBranch = BranchItem & { readonly deployment: NonNullable<BranchItem["deployment"]> };
type Chosen = { readonly branch: LiveBranch } | { readonly branch: null; readonly why: "nothing live" | "unknown" };

/**
 * The branch to call: the one that the URL names by its id or its live deployment's, else production, else any live
 * one. Null with `unknown` when the URL names one that isn't live: no other one must replace it.
 */
export function chosenBranch(
  branches: readonly BranchItem[],
  { branchId, deploymentId }: { readonly branchId?: string | undefined; readonly deploymentId?: string | undefined },
): Chosen {
  const live = branches.filter((branch): branch is LiveBranch => branch.deployment !== null);
  const named = deploymentId ?? branchId;
  const branch =
    named === undefined
      ? (live.find((each) => each.isDefault) ?? live[0])
      : live.find((each) => (deploymentId ? each.deployment.id === deploymentId : each.id === branchId));
  if (branch) return { branch };
  return { branch: null, why: live.length === 0 ? "nothing live" : "unknown" };
}

/** The branch of the address, else the branch that served the call to replay if that is live. */
export function replayedBranch(
  branches: readonly BranchItem[],
  { branchId }: { readonly branchId?: string | undefined },
  deploymentId: string | null | undefined,
): { readonly branchId?: string | undefined } {
  if (branchId !== undefined || !deploymentId) return { branchId };
  return { branchId: branches.find(({ deployment }) => deployment?.id === deploymentId)?.id };
}
