import { expect, onTestFinished, test, vi } from "vitest";
import { type NetworkState, startNetworkProbe } from "./network-probe.ts";

const failed: NetworkState = { internet: null, checks: [], isTransient: true };
const works: NetworkState = { internet: "slirp", checks: [], isTransient: false };
const open: NetworkState = { internet: null, checks: [], isTransient: false };

/** Answers one after the other; the last one for good. */
function answers(...list: [NetworkState, ...NetworkState[]]) {
  let asked = 0;
  return {
    asked: () => asked,
    probe: async () => {
      const state = list[Math.min(asked, list.length - 1)] ?? failed;
      asked += 1;
      return state;
    },
  };
}

test("RUN-2 a transient failure does not disable networking", async () => {
  const { probe, asked } = answers(failed, failed, works);
  const network = await startNetworkProbe(probe, { pausesMs: [1, 1, 1], retryAfterMs: 0 });
  expect(network.state()).toBe(works);
  await network.refreshed();
  expect(asked()).toBe(3);
});

test("RUN-2 after a persistent failure the probe runs again later, once for all concurrent callers", async () => {
  const { probe, asked } = answers(failed, failed, works);
  const network = await startNetworkProbe(probe, { pausesMs: [1], retryAfterMs: 60_000 });
  expect(await network.refreshed()).toBe(failed);
  expect(asked()).toBe(2);
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 60_000);
  onTestFinished(() => clock.mockRestore());
  const states = await Promise.all([network.refreshed(), network.refreshed(), network.refreshed()]);
  expect(states).toEqual([works, works, works]);
  expect(asked()).toBe(3);
});

test("RUN-2 a network that reaches forbidden addresses is not probed again", async () => {
  const { probe, asked } = answers(open, works);
  const network = await startNetworkProbe(probe, { pausesMs: [1, 1], retryAfterMs: 0 });
  expect((await network.refreshed()).internet).toBeNull();
  expect(asked()).toBe(1);
});
