import { expect, test } from "vitest";
import { findMatches, parseAnsi, plainText, splitAtMatches } from "./log-line.ts";

const esc = "\u001b";

test("PRJ-3 search ignores case and finds nothing for blanks", () => {
  const texts = ["Installing fastmcp", "done", "FASTMCP ready"];
  expect(findMatches(texts, "fastmcp ")).toEqual([0, 2]);
  expect(findMatches(texts, "  ")).toEqual([]);
});

test("PRJ-3 matches are split off without losing a character", () => {
  const pieces = splitAtMatches("aXbxc", "x");
  expect(pieces.filter((piece) => piece.match).map((piece) => piece.text)).toEqual(["X", "x"]);
  expect(pieces.map((piece) => piece.text).join("")).toBe("aXbxc");
  expect(splitAtMatches("İx", "x")).toEqual([{ text: "İx", match: false }]);
});

test("PRJ-3 the 16 ANSI colors become theme colors; 256-color and RGB values are dropped", () => {
  const line = `${esc}[1m${esc}[31merror${esc}[0m: ${esc}[38;5;201mpink${esc}[0m ${esc}[38;2;1;2;3mrgb${esc}[0m`;
  const parts = parseAnsi(line);
  expect(parts[0]).toEqual({ text: "error", color: "var(--ansi-red)", bold: true, dim: false, underline: false });
  expect(parts.slice(1).every((part) => part.color === null)).toBe(true);
  expect(parts.map((part) => part.text).join("")).toBe("error: pink rgb");
});

test("PRJ-3 markup in a log line stays text", () => {
  const line = `<img src=x onerror=alert(1)> ${esc}]8;;javascript:alert(1)\u0007link${esc}]8;;\u0007`;
  expect(parseAnsi(line).map((part) => part.text)).toEqual(["<img src=x onerror=alert(1)> link"]);
});

test("PRJ-3 a progress bar shows its last state, and cursor movements are removed", () => {
  expect(plainText(`10%\r50%\r100%${esc}[K done`)).toBe("100% done");
  expect(plainText("windows line\r")).toBe("windows line");
  expect(plainText(`${esc}[2J${esc}[H${esc}[?25lready\u0008`)).toBe("ready");
  expect(plainText(`${esc}[32mok${esc}[0m`)).toBe("ok");
});

test("PRJ-3 a hostile line of 8 KiB is parsed quickly", () => {
  const started = performance.now();
  for (const unit of [`${esc}[`, `${esc}]`, "1;", `${esc}[1;`]) parseAnsi(unit.repeat(8192 / unit.length));
  expect(performance.now() - started).toBeLessThan(5000);
});
