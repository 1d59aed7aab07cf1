import { expect, test } from "vitest";
import { findMatches, splitAtMatches } from "./log-line.ts";

test("PRJ-3 search finds lines whatever the case and nothing for blanks", () => {
  const texts = ["Installing fastmcp", "done", "FASTMCP ready"];
  expect(findMatches(texts, "fastmcp ")).toEqual([0, 2]);
  expect(findMatches(texts, "  ")).toEqual([]);
});

test("PRJ-3 matches are cut out without losing a character", () => {
  const pieces = splitAtMatches("aXbxc", "x");
  expect(pieces.filter((piece) => piece.match).map((piece) => piece.text)).toEqual(["X", "x"]);
  expect(pieces.map((piece) => piece.text).join("")).toBe("aXbxc");
  expect(splitAtMatches("İx", "x")).toEqual([{ text: "İx", match: false }]);
});
