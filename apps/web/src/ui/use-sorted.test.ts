import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
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

test("PRJ-5 PRJ-6 every table of data can be sorted by its headers", async () => {
  const unsorted: string[] = [];
  const features = join(import.meta.dirname, "../features");
  for await (const path of glob("**/*.tsx", { cwd: features })) {
    const text = await readFile(join(features, path), "utf8");
    if (text.includes("<Table ") && !/ sort=\{sort/.test(text)) unsorted.push(path);
  }
  const others = [
    // In the order of the answers.
    "inspector/inspector/compare/compared.tsx",
    "inspector/replay/tool-report.tsx",
    "organization/members/role-matrix.tsx",
    // Sorted by a choice above it, over all of its pages.
    "project/errors/error-table.tsx",
    // The live version and the new one.
    "project/release/release-panel.tsx",
  ];
  expect(unsorted.toSorted()).toEqual(others);
});
