import type { BranchItem } from "~/features/project/delivery/deployment.functions.ts";
import type { InspectorSearch } from "./inspector-search.ts";

// Not beside the page: the loader uses it, and importing the page there would add it to every visitor's first script.

/** Which branch the address asks for: its own, else the one that served the call to replay while that is live. */
export function replayedBranch(
  branches: readonly BranchItem[],
  { branchId }: Pick<InspectorSearch, "branchId">,
  deploymentId: string | null | undefined,
): { readonly branchId?: string | undefined } {
  if (branchId !== undefined || !deploymentId) return { branchId };
  return { branchId: branches.find(({ deployment }) => deployment?.id === deploymentId)?.id };
}
