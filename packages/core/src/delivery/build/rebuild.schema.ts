/** A try that failed, as while the package index is unreachable, is repeated after a minute, then two, four, … */
const firstPauseMs = 60_000;
const maxPauseMs = 6 * 3_600_000;

/**
 * When lost layers are built again.
 *
 * @param tries builds so far, at least one
 * @param last when the latest began
 */
export const nextRebuildAt = (tries: number, last: Date): Date =>
  new Date(last.getTime() + Math.min(firstPauseMs * 2 ** (tries - 1), maxPauseMs));
