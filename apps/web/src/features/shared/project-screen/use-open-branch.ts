import { useSearch } from "@tanstack/react-router";

/** The branch that the open screen shows (search parameter `branchId`); null: the default branch. */
export function useOpenBranch(): string | null {
  const { branchId } = useSearch({ strict: false });
  return typeof branchId === "string" ? branchId : null;
}
