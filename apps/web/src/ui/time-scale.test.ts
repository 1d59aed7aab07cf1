import { expect, test } from "vitest";
import { niceMaximum, tickIndexes } from "./time-scale.ts";

test.each([
  [0, 2],
  [1, 2],
  [3, 4],
  [7, 8],
  [9, 10],
  [11, 20],
  [432, 500],
  [1001, 2000],
])("PRJ-19 an axis ends at a round number: %s at most is drawn up to %s", (most, top) => {
  expect(niceMaximum(most)).toBe(top);
});

test("PRJ-19 an axis has at most six labels", () => {
  expect(tickIndexes(49)).toEqual([0, 9, 18, 27, 36, 45]);
  expect(tickIndexes(3)).toEqual([0, 1, 2]);
  expect(tickIndexes(0)).toEqual([]);
});
