import { expect, test } from "vitest";
import { timesOf, waitsOf } from "./request-times.ts";

test("PRJ-20 a request's time is split: held, in the server, in the gateway", () => {
  expect(timesOf({ durationMs: 100, heldMs: 60, serverMs: 35 })).toEqual({
    total: 100,
    held: 60,
    server: 35,
    gateway: 5,
  });
  expect(timesOf({ durationMs: 3, heldMs: 0, serverMs: null })).toMatchObject({ server: null, gateway: null });
  expect(timesOf({ durationMs: 10, heldMs: 5, serverMs: 5.001 }).gateway).toBe(0);
});

test("PRJ-20 a request shows its waits, or why its server could not be started", () => {
  const started = { outcome: "started", placeMs: 40, startMs: 510, wakeMs: null, reason: null } as const;
  expect(waitsOf({ startAttempt: started })).toEqual([
    { what: "A free slot on the host", ms: 40 },
    { what: "The server's start", ms: 510 },
  ]);
  const woken = { outcome: "woken", placeMs: null, startMs: null, wakeMs: 4, reason: null } as const;
  expect(waitsOf({ startAttempt: woken })).toEqual([{ what: "The server's waking", ms: 4 }]);
  const failed = { outcome: "failed", placeMs: null, startMs: null, wakeMs: null } as const;
  expect(waitsOf({ startAttempt: { ...failed, reason: "capacity" } })[0]?.what).toContain("the host was full");
  expect(waitsOf({ startAttempt: { ...failed, reason: "of_a_later_version" } })[0]?.what).toContain(
    "of_a_later_version",
  );
  expect(waitsOf({ startAttempt: { ...failed, outcome: "asleep", reason: null } })[0]?.what).toContain("stayed asleep");
  expect(waitsOf({ startAttempt: null })).toEqual([]);
});
