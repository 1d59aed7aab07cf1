import { setTimeout as sleep } from "node:timers/promises";
import type { Check } from "./self-test.ts";
import type { SpawnContext } from "./spawn.ts";

export type NetworkState = {
  /** How `internet` is carried out; null: not at all. */
  readonly internet: SpawnContext["internet"];
  readonly checks: readonly Check[];
  /** Whether another try may end otherwise: setting up failed, as it does now and then on a busy host. */
  readonly mayPass: boolean;
};

export type NetworkProbe = {
  /** The result of the last try. */
  state(): NetworkState;
  /** The same; tries once more before when the last try failed a while ago. Callers at the same time share the try. */
  refreshed(): Promise<NetworkState>;
};

export type ProbeTiming = {
  /** Pauses between the first tries, milliseconds. */
  readonly pausesMs: readonly number[];
  /** A failure older than this is tried again, milliseconds. */
  readonly againAfterMs: number;
};

const defaultTiming: ProbeTiming = { pausesMs: [250, 750], againAfterMs: 30_000 };

/**
 * Finds out whether sandboxes can have a network of their own. One failure under load must not switch networking off
 * for the life of the process. What a probe saw to be open is final: isolation that failed once is not trusted again.
 */
export async function startNetworkProbe(
  probe: () => Promise<NetworkState>,
  timing: ProbeTiming = defaultTiming,
): Promise<NetworkProbe> {
  let state = await probe();
  for (const pause of timing.pausesMs) {
    if (!state.mayPass) break;
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
      if (!state.mayPass || performance.now() - triedAt < timing.againAfterMs) return state;
      trying ??= tryAgain().finally(() => {
        trying = null;
      });
      await trying;
      return state;
    },
  };
}
