import { expect, test } from "vitest";
import { coverageOf, parseRequirements, problemsOf, proofsIn } from "./requirements.ts";

const parse = (...lines: string[]) => parseRequirements(lines.join("\n"));
const idsIn = (source: string, file = "a.test.ts") => proofsIn(file, source).map(({ id }) => id);

test("promises are read with their marks and Shown lines", () => {
  const { requirements, problems } = parse(
    "# Head",
    "- ZZ-1 spec **M**: signs in.",
    "  Shown: signing in. Not shown: signing out.",
    "- ZZ-2 design: counts.",
    "  Shown: counting.",
    "- ZZ-3 beyond: flies.",
  );
  expect(problems).toEqual([]);
  expect(requirements.map((each) => [each.id, each.isMainJob, coverageOf(each)])).toEqual([
    ["ZZ-1", true, "part"],
    ["ZZ-2", false, "whole"],
    ["ZZ-3", false, "none"],
  ]);
});

test("a malformed promise or Shown: line is reported, not overlooked", () => {
  expect(parse("- ZZ-1 spec M: text").problems).toEqual([expect.stringContaining("Line 1 is not a promise")]);
  expect(parse("- ZZ-1 wish: text").problems).toHaveLength(1);
  expect(parse("- ZZ-1 spec: a", "- ZZ-1 spec: b").problems).toEqual(["ZZ-1 occurs twice."]);
  for (const shown of ["Shown: a", "   Shown: a", "  shown: a", "  Shown:"]) {
    expect(parse("- ZZ-1 spec: a", shown).problems).toEqual([expect.stringContaining("directly below")]);
  }
  expect(parse("- ZZ-1 spec: a", "", "  Shown: b").problems).toHaveLength(1);
  expect(parse("- ZZ-1 spec: a", `  Shown: ${"b".repeat(721)}`).problems).toEqual([expect.stringContaining("shorten")]);
});

test("test titles name promises; comments, bodies, skipped tests and those of one stage don't", () => {
  expect(idsIn('test("ZZ-1 ZZ-2 a", () => {}); describe("ZZ-3", f); it(\n  `ZZ-4 {x}`, f)')).toEqual([
    "ZZ-1",
    "ZZ-2",
    "ZZ-3",
    "ZZ-4",
  ]);
  expect(idsIn('test.each([["a", f(1)]])("ZZ-1 %s", f); test.runIf(root)("ZZ-2 b", f)')).toEqual(["ZZ-1", "ZZ-2"]);
  expect(idsIn('test.skip("ZZ-1 a", f); test.todo("ZZ-2 b"); test.runIf(isThorough)("ZZ-3 c", f)')).toEqual([]);
  expect(idsIn('test.runIf(isThorough).each([["a", f(1)]])("ZZ-1 %s", f)')).toEqual([]);
  expect(
    idsIn('// test("ZZ-1 a", f)\n/** ZZ-2: test("ZZ-2 a") */\n * it("ZZ-3")\ntest("b", () => run("ZZ-4"))'),
  ).toEqual([]);
  expect(idsIn("def test_ZZ_5_serves(start):\n# def test_ZZ_6_no():", "test_a.py")).toEqual(["ZZ-5"]);
});

test("document and titles must agree", () => {
  const { requirements } = parse(
    "- ZZ-1 spec **M**: a",
    "- ZZ-2 spec: b",
    "- ZZ-3 spec: c",
    "  Shown: c",
    "- ZZ-4 spec: d",
  );
  const proofs = ["ZZ-2", "ZZ-9", "UTF-8"].map((id) => ({ id, title: "t" }));
  expect(problemsOf(requirements, proofs)).toEqual([
    "ZZ-9 is in a test's title, but not in docs/requirements.md.",
    "ZZ-1 is part of the main job, and no test's title names it.",
    'ZZ-2 has tests, but no "Shown:" line that says what they show.',
    'ZZ-3 has a "Shown:" line, but no test\'s title names it.',
  ]);
});
