import type { StartAttempt } from "@towpath/logs/schema";
import type { LeasedInstance } from "@towpath/runner-api";

const nothing = { placeMs: null, startMs: null, wakeMs: null, reason: null };

/** The runner's work for a lease. */
export function startOf({ state, spent }: LeasedInstance): StartAttempt {
  const { placeMs = null, startMs = null, wakeMs = null } = spent ?? {};
  return { outcome: state, placeMs, startMs, wakeMs, reason: null };
}

/** `reason`: the runner's error code. */
export function failedStart(reason: string): StartAttempt {
  return { ...nothing, outcome: "failed", reason };
}

export const alreadyRunning: StartAttempt = { ...nothing, outcome: "ready" };

/** The gateway answered in place of a sleeping server (GW-12). */
export const answeredAsleep: StartAttempt = { ...nothing, outcome: "asleep" };
