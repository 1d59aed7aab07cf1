/**
 * Number of the fork's pull request behind a branch; null for the repository's own branches, whose names have no colon.
 */
export const forkOf = (branchName: string): number | null => Number(/^pull:(\d+)$/.exec(branchName)?.[1] ?? 0) || null;

/** A branch's name as people read it. */
export function branchTitle(branchName: string): string {
  const pull = forkOf(branchName);
  return pull === null ? branchName : `pull request ${pull}`;
}
