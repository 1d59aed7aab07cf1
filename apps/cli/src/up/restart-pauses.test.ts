import { expect, test } from "vitest";
import { RestartPauses } from "./restart-pauses.ts";

const limits = { firstPauseMs: 500, maxPauseMs: 4_000, settledAfterMs: 5_000 };
const times = (count: number, work: () => number) => Array.from({ length: count }, work);

test("OPS-1 a process that is killed while it runs restarts at once, every time", () => {
  const pauses = new RestartPauses(limits);
  expect(times(20, () => pauses.after({ readyForMs: 300, signal: "SIGKILL" }))).toEqual(Array(20).fill(0));
  expect(pauses.after({ readyForMs: 60_000, signal: null })).toBe(0);
  // Killed while it starts: hardly later, and never ever later.
  expect(times(5, () => pauses.after({ readyForMs: null, signal: "SIGKILL" }))).toEqual(Array(5).fill(500));
});

test("OPS-1 a process that fails to start, or crashes soon after, is retried with growing pauses until it has run for a while", () => {
  const pauses = new RestartPauses(limits);
  expect(times(3, () => pauses.after({ readyForMs: null, signal: null }))).toEqual([500, 1_000, 2_000]);
  expect(pauses.after({ readyForMs: 900, signal: "SIGSEGV" })).toBe(4_000);
  expect(pauses.after({ readyForMs: null, signal: null })).toBe(4_000);
  expect(pauses.after({ readyForMs: 9_000, signal: "SIGSEGV" })).toBe(0);
  expect(pauses.after({ readyForMs: null, signal: null })).toBe(500);
});
