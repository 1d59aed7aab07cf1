import { expect, test } from "vitest";
import { lookOf } from "./server-line.tsx";

test("PRJ-4 while a call runs, no state that was read before it says Asleep", () => {
  const states = ["awake", "asleep", "starting", "stopped", "crashed"] as const;
  expect(states.map((state) => lookOf(state, true).label)).toEqual([
    "Awake",
    "Awake",
    "Starting",
    "Starting",
    "Starting",
  ]);
  expect(states.map((state) => lookOf(state, false).label)).toEqual([
    "Awake",
    "Asleep",
    "Starting",
    "Asleep",
    "Crashed",
  ]);
});
