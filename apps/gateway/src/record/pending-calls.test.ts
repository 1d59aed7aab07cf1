import { afterEach, expect, test, vi } from "vitest";
import type { Exchange } from "./exchange.ts";
import { PendingCalls } from "./pending-calls.ts";

afterEach(() => vi.useRealTimers());

/** A legacy call as far as PendingCalls looks at it. */
function callOf(session: string, id: number, answers: unknown = null): Exchange {
  const message = { kind: "request", id, cancels: null };
  const peek = { ...message, messages: [message] };
  return { session, peek, answers, refusal: null, canceled: new Set(), resumes: null, route: {} } as never;
}
const interrupted = { resumable: true, answers: [] };

test("GW-7 a call is forgotten however forwarding ends, also by an unexpected error", async () => {
  const settled: Exchange[] = [];
  const calls = new PendingCalls((call) => settled.push(call));
  const failing = calls.track(callOf("s", 1, interrupted), async () => {
    expect(calls.size).toBe(1);
    throw new TypeError("a bug");
  });
  await expect(failing).rejects.toThrow("a bug");
  expect(await calls.track(callOf("s", 2), async () => {})).toBe(false);
  expect([calls.size, settled]).toEqual([0, []]);
});

test("GW-7 a call whose stream ended early waits for its answer for a while, then its row is written", async () => {
  vi.useFakeTimers();
  const settled: Exchange[] = [];
  const calls = new PendingCalls((call) => settled.push(call));
  const call = callOf("s", 1, interrupted);
  expect(await calls.track(call, async () => {})).toBe(true);
  expect([calls.size, settled]).toEqual([1, []]);
  vi.advanceTimersByTime(60_000);
  expect(calls.size).toBe(0);
  expect(settled).toEqual([call]);
});
