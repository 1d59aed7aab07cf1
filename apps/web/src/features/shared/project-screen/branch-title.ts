/** The pull request from a fork that a branch stands for; null for a branch of the repository. Git allows no colon in names. */
export const forkOf = (branchName: string): number | null => Number(/^pull:(\d+)$/.exec(branchName)?.[1] ?? 0) || null;

/** A branch's name as people read it. */
export function branchTitle(branchName: string): string {
  const pull = forkOf(branchName);
  return pull === null ? branchName : `pull request ${pull}`;
}
