import { expect, test } from "vitest";
import { compareValues } from "./use-sorted.ts";

test("PRJ-6 columns sort numbers by size, text by its digits, and empty values last either way", () => {
  const sorted = (values: readonly (string | number | null)[], sign: 1 | -1) =>
    values.toSorted((a, b) => compareValues(a, b, sign));
  expect(sorted([10, 9, null, 100], 1)).toEqual([9, 10, 100, null]);
  expect(sorted([10, 9, null, 100], -1)).toEqual([100, 10, 9, null]);
  expect(sorted(["tool10", null, "Tool9", "alpha"], 1)).toEqual(["alpha", "Tool9", "tool10", null]);
  expect(sorted(["tool10", null, "Tool9", "alpha"], -1)).toEqual(["tool10", "Tool9", "alpha", null]);
});
