import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startRounds } from "./rounds.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a round runs at once and then at its times, a delayed one only then; one that takes longer never twice at a time", async () => {
  const begun = { usual: 0, delayed: 0, long: 0 };
  const count = (name: keyof typeof begun) => async () => void begun[name]++;
  const end = Promise.withResolvers<void>();
  const stop = startRounds(
    [
      { name: "usual", everyMs: 1000, run: count("usual") },
      { name: "delayed", everyMs: 1000, isDelayed: true, run: count("delayed") },
      { name: "long", everyMs: 1000, run: () => count("long")().then(() => end.promise) },
    ],
    (name, error) => expect.unreachable(`${name}: ${error}`),
  );
  expect(begun).toEqual({ usual: 1, delayed: 0, long: 1 });
  await vi.advanceTimersByTimeAsync(2500);
  expect(begun).toEqual({ usual: 3, delayed: 2, long: 1 });
  end.resolve();
  await vi.advanceTimersByTimeAsync(1000);
  expect(begun).toEqual({ usual: 4, delayed: 3, long: 2 });
  await stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(begun).toEqual({ usual: 4, delayed: 3, long: 2 });
});

test("a round that fails is reported by name and runs again; stopping aborts what runs and waits for its end", async () => {
  const failed: string[] = [];
  const ended: string[] = [];
  const stop = startRounds(
    [
      { name: "failing", everyMs: 1000, run: async () => Promise.reject(new Error("no")) },
      {
        name: "running",
        everyMs: 1000,
        run: (signal) =>
          new Promise((_, reject) => {
            signal.addEventListener("abort", () => {
              ended.push("running");
              reject(signal.reason);
            });
          }),
      },
    ],
    (name) => failed.push(name),
  );
  await vi.advanceTimersByTimeAsync(1000);
  expect(failed).toEqual(["failing", "failing"]);
  await stop();
  expect(ended).toEqual(["running"]);
  // Its end by the stop is no failure.
  expect(failed).toEqual(["failing", "failing"]);
});
