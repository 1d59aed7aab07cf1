import { expect, test } from "vitest";
import { activityOf, noUse, type ProcessorUse, processorUse } from "./processor-use.ts";

const after = (usedMs: number, ...threads: [ranMs: number, waitedMs: number][]): ProcessorUse => ({
  usedMs,
  threads: new Map(threads.map(([ranMs, waitedMs], index) => [index + 1, { ranMs, waitedMs }])),
});
const activity = (now: ProcessorUse, isHostBusy: boolean, before = noUse) =>
  activityOf({ before, now, elapsedMs: 60_000, enoughMs: 30_000, isHostBusy });

test("BLD-2 a start that was ready to run and got little processor was starved; one that got enough computes, others wait", () => {
  // At load 20 on two processors, a good server.
  expect(activity(after(4_000, [3_900, 55_000]), true)).toBe("starved");
  // It had as much as an ordinary start, although it waited most of the time: a loop.
  expect(activity(after(31_000, [31_000, 140_000]), true)).toBe("busy");
  expect(activity(after(59_000, [59_000, 500]), false)).toBe("busy");
  expect(activity(after(900, [800, 300]), false)).toBe("waiting");
  // The busy host is no excuse for what never asked for its processors.
  expect(activity(after(900, [800, 3_000]), true)).toBe("waiting");
  // Held back by its own limit, not by others.
  expect(activity(after(4_000, [3_900, 55_000]), false)).toBe("waiting");
  // The work of a child or of a thread counts, and nothing that was before.
  expect(activity(after(4_000, [10, 20], [3_900, 55_000]), true)).toBe("starved");
  expect(activity(after(4_000, [3_900, 55_000]), true, after(3_900, [3_890, 54_900]))).toBe("waiting");
});

test("BLD-2 if the kernel doesn't report how long a start waited for a processor, a busy host counts as the reason", () => {
  expect(activity(after(4_000), true)).toBe("starved");
  expect(activity(after(4_000), false)).toBe("waiting");
  expect(activity(after(40_000), true)).toBe("busy");
});

test("BLD-2 the processor time of a process is read from the host", async () => {
  const before = await processorUse(process.pid);
  for (const until = performance.now() + 200; performance.now() < until; );
  const now = await processorUse(process.pid);
  expect(now.usedMs).toBeGreaterThan(before.usedMs);
  expect(await processorUse(2 ** 30)).toEqual(noUse);
});
