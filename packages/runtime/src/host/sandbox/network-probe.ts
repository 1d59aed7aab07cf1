import { setTimeout as sleep } from "node:timers/promises";
import type { Check } from "./self-test.ts";
import type { SpawnContext } from "./spawn.ts";

export type NetworkState = {
  /** How `internet` is implemented; null: not available. */
  readonly internet: SpawnContext["internet"];
  readonly checks: readonly Check[];
  /** Whether the failure may be transient, as on a busy host. */
  readonly isTransient: boolean;
};

export type NetworkProbe = {
  /** The result of the last attempt. */
  state(): NetworkState;
  /** The same, after another attempt if the last one failed a while ago. Concurrent callers share it. */
  refreshed(): Promise<NetworkState>;
};

export type ProbeTiming = {
  /** Pauses between the first attempts, milliseconds. */
  readonly pausesMs: readonly number[];
  /** Time after a failure until the next attempt, milliseconds. */
  readonly retryAfterMs: number;
};

const defaultTiming: ProbeTiming = { pausesMs: [250, 750], retryAfterMs: 30_000 };

/**
 * Tests whether sandboxes can have a network of their own. A transient failure under load must not disable networking
 * for the life of the process. If a probe reached something forbidden, that is final: the isolation is never trusted
 * again.
 */
export async function startNetworkProbe(
  probe: () => Promise<NetworkState>,
  timing: ProbeTiming = defaultTiming,
): Promise<NetworkProbe> {
  let state = await probe();
  for (const pause of timing.pausesMs) {
    if (!state.isTransient) break;
    await sleep(pause);
    state = await probe();
  }
  let triedAt = performance.now();
  let trying: Promise<void> | null = null;
  const tryAgain = async () => {
    state = await probe();
    triedAt = performance.now();
  };
  return {
    state: () => state,
    async refreshed() {
      if (!state.isTransient || performance.now() - triedAt < timing.retryAfterMs) return state;
      trying ??= tryAgain().finally(() => {
        trying = null;
      });
      await trying;
      return state;
    },
  };
}
