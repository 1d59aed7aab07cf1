import { expect, test } from "vitest";
import { changeText } from "./change-text.ts";

test.each([
  [120, 100, "relative", "+20% vs. the day before"],
  [80, 100, "relative", "−20% vs. the day before"],
  [100, 100, "relative", "same as the day before"],
  [1000, 1001, "relative", "same as the day before"],
  [5, 0, "relative", "none the day before"],
  [0, 0, "relative", "same as the day before"],
  [null, 12, "relative", "no calls"],
  [12, null, "relative", "none the day before"],
  [4, 3, "absolute", "+1 vs. the day before"],
  [2, 0, "absolute", "+2 vs. the day before"],
  [0, 0, "absolute", "same as the day before"],
] as const)("PRJ-19 %s after %s, %s: %s", (now, before, kind, text) => {
  expect(changeText(now, before, kind)).toBe(text);
});
