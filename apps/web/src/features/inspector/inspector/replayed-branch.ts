import type { BranchItem } from "~/features/project/delivery/deployment.functions.ts";
import type { InspectorSearch } from "./inspector-search.ts";

// Not in the page's file: the loader uses it, and importing the page would add it to every visitor's first script.

/** The branch of the address, else the branch that served the call to replay if that is live. */
export function replayedBranch(
  branches: readonly BranchItem[],
  { branchId }: Pick<InspectorSearch, "branchId">,
  deploymentId: string | null | undefined,
): { readonly branchId?: string | undefined } {
  if (branchId !== undefined || !deploymentId) return { branchId };
  return { branchId: branches.find(({ deployment }) => deployment?.id === deploymentId)?.id };
}
