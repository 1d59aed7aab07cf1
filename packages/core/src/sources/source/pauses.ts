// How often repositories behind Git URLs are asked: soon where something happens, rarely otherwise (SRC-2).

const soonMs = 15_000;
const idleMs = 5 * 60_000;
const firstRetryMs = 30_000;
const maxRetryMs = 30 * 60_000;

/** Spreads the checks of many repositories. */
const spread = (ms: number) => ms * (0.9 + 0.2 * Math.random());
const after = (now: Date, ms: number) => new Date(now.getTime() + ms);

export const firstCheckAt = (now: Date): Date => after(now, soonMs);

/** After a check that succeeded. `changedAt`: when a head, or the source itself, last changed. */
export function nextCheckAt(now: Date, changedAt: Date): Date {
  const quietMs = now.getTime() - changedAt.getTime();
  return after(now, Math.max(soonMs, spread(Math.min(quietMs / 10, idleMs / 1.1))));
}

/** Of a repository of this instance, whose pushes are known without asking. */
export const nextLookAt = (now: Date): Date => after(now, spread(idleMs));

/** After the check that failed as the `tries`th in a row. */
export const nextTryAt = (now: Date, tries: number): Date =>
  after(now, spread(Math.min(firstRetryMs * 2 ** (tries - 1), maxRetryMs)));

/** While it is asked, no other worker asks; a worker that ends meanwhile delays the next check by this. */
export const claimedUntil = (now: Date): Date => after(now, 2 * 60_000);
