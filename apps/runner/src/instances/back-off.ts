import type { InstanceTiming } from "../config.ts";

/**
 * Exponential back-off between starts of a server that keeps failing; reset after it ran well (RUN-6).
 * `now` is performance.now().
 */
export type BackOff = {
  /** Failures in a row. */
  readonly failures: number;
  /** Milliseconds until the next start is allowed; 0: now. */
  remaining(now: number): number;
  /** Continues with the number of failures of an earlier runner; the next start is allowed now. */
  restore(failures: number): void;
  /** Returns the wait in milliseconds. `ranMs`: how long the server had been ready. */
  failed(now: number, ranMs: number): number;
};

export function createBackOff(
  timing: Pick<InstanceTiming, "firstBackOffMs" | "maxBackOffMs" | "healthyAfterMs">,
): BackOff {
  let failures = 0;
  let allowedAt = 0;
  return {
    get failures() {
      return failures;
    },
    remaining: (now) => Math.max(0, allowedAt - now),
    restore(earlier) {
      failures = earlier;
    },
    failed(now, ranMs) {
      if (ranMs >= timing.healthyAfterMs) failures = 0;
      const wait = Math.min(timing.firstBackOffMs * 2 ** failures, timing.maxBackOffMs);
      failures += 1;
      allowedAt = now + wait;
      return wait;
    },
  };
}
