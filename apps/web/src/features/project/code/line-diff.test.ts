import { expect, test } from "vitest";
import { firstLines, lineDiff } from "./line-diff.ts";

const signs = { same: " ", added: "+", removed: "-" } as const;
const shown = (before: string, after: string) =>
  lineDiff(before, after).map((group) => group.map(({ kind, text }) => `${signs[kind]}${text}`));
const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);
const text = (lines: readonly string[]) => `${lines.join("\n")}\n`;

test("CAP-5 a diff has the changed lines with three around them, in groups", () => {
  const before = text(count(1, 30));
  const after = before.replace("line 10\n", "line ten\n").replace("line 25\n", "");
  expect(shown(before, after)).toEqual([
    [" line 7", " line 8", " line 9", "-line 10", "+line ten", " line 11", " line 12", " line 13"],
    [" line 22", " line 23", " line 24", "-line 25", " line 26", " line 27", " line 28"],
  ]);
  const [, second] = lineDiff(before, after);
  expect(second?.map(({ numbers }) => numbers).slice(2, 5)).toEqual([
    [24, 24],
    [25, null],
    [26, 25],
  ]);
});

test("CAP-5 diffs of new, emptied and lengthened files, and of other ends of lines", () => {
  expect(shown("", "a\nb\n")).toEqual([["+a", "+b"]]);
  expect(shown("a\n", "")).toEqual([["-a"]]);
  expect(shown("a\n", "a\nb\n")).toEqual([[" a", "+b"]]);
  expect(shown("a", "a\nb")).toEqual([[" a", "+b"]]);
  expect(shown("b\n", "a\nb\n")).toEqual([["+a", " b"]]);
  expect(
    shown("a\n\n\nb\n", "a\n\nb\n")
      .flat()
      .filter((line) => line.startsWith("-")),
  ).toEqual(["-"]);
  expect(shown("a\r\nb\r\n", "a\r\nc\r\n")).toEqual([[" a", "-b", "+c"]]);
  expect(shown("a\n", "a\n")).toEqual([]);
});

test("CAP-5 a diff of texts with nothing in common, and of very long lines, takes no seconds", () => {
  const lines = (name: string, of: number) => text(Array.from({ length: of }, (_, at) => `${name} ${at * 7919}`));
  const started = performance.now();
  expect(lineDiff(lines("one", 4000), lines("other", 4000)).flat()).toHaveLength(8000);
  expect(lineDiff(lines("one", 40_000), lines("other", 40_000)).flat()).toHaveLength(80_000);
  expect(shown("ab".repeat(200_000), "ba".repeat(200_000)).flat()).toHaveLength(2);
  expect(performance.now() - started).toBeLessThan(5000);
});

test("CAP-5 of a diff with many lines the first ones are shown", () => {
  const groups = lineDiff("a\nb\n1\n2\n3\n4\n5\n6\n7\nc\n", "A\nB\n1\n2\n3\n4\n5\n6\n7\nC\n");
  const sizes = (most: number) => firstLines(groups, most).map((group) => group.length);
  expect(groups.map((group) => group.length)).toEqual([7, 5]);
  expect([sizes(100), sizes(9), sizes(7), sizes(3), sizes(0)]).toEqual([[7, 5], [7, 2], [7], [3], []]);
});
