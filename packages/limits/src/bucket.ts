import type { Rate } from "./rate.ts";

const minuteMs = 60_000;

/**
 * A token bucket as one number (GCRA, the generic cell rate algorithm): the time at which it will be full again. It
 * needs no timer, and a copy in another process is updated by adding milliseconds, regardless of the rate.
 *
 * All times are milliseconds of one clock that never goes back.
 */
export class Bucket {
  /** When it is full again. In the past: it is full. */
  fullAt = 0;

  /**
   * Milliseconds until `calls` more fit; 0: they fit now. Takes nothing. More calls than fit at once count as a full
   * bucket, because they could never pass otherwise.
   */
  waitFor(calls: number, rate: Rate, now: number): number {
    const callMs = minuteMs / rate.perMinute;
    const fullAt = Math.max(this.fullAt, now) + Math.min(calls, rate.burst) * callMs;
    const wait = fullAt - (now + rate.burst * callMs);
    // Rounding errors of a sum must not become a wait.
    return wait > 1e-6 * callMs ? wait : 0;
  }

  /** Takes `calls`, whether they fit or not. Returns by how many milliseconds this delays the full bucket. */
  take(calls: number, rate: Rate, now: number): number {
    const takenMs = calls * (minuteMs / rate.perMinute);
    this.delay(takenMs, now);
    return takenMs;
  }

  /** Takes what was taken from a copy of this bucket elsewhere. */
  delay(takenMs: number, now: number): void {
    this.fullAt = Math.max(this.fullAt, now) + takenMs;
  }
}
