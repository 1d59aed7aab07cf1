import fc from "fast-check";
import { expect, test } from "vitest";
import { maxLineBytes } from "../../port/execution.ts";
import { splitLines } from "./lines.ts";

function split(chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = splitLines((line) => lines.push(line));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

test("lines do not depend on chunk boundaries, even within a character", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.nat(50)), (texts, cuts) => {
      const lines = texts.map((text) => text.replace(/[\n\r\0]/g, ""));
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const chunks: Buffer[] = [];
      let from = 0;
      for (const cut of cuts) {
        chunks.push(bytes.subarray(from, from + cut));
        from += cut;
      }
      chunks.push(bytes.subarray(from));
      expect(split(chunks)).toEqual(lines);
    }),
  );
});

test("RUN-5 a long line is cut and marked, the last line needs no line end, and NUL is replaced", () => {
  const long = Buffer.alloc(maxLineBytes * 3, "x");
  const lines = split([long, long, Buffer.from("y\nnext\r\na\0b")]);
  expect(lines).toHaveLength(3);
  expect(lines[0]).toBe(`${"x".repeat(maxLineBytes)} … [line cut at 8 KiB]`);
  expect(lines.slice(1)).toEqual(["next", "a\ufffdb"]);
});

test("RUN-5 each line has its position, also of those that are skipped, and one that was lost in part ends there", () => {
  const lines: [string, number][] = [];
  let isOpen = true;
  const gate = { isOpen: () => isOpen, skip: () => {} };
  const splitter = splitLines((line, _, position) => lines.push([line, position]), gate);
  expect(splitter.push(Buffer.from("one\ntw"))).toBe(4);
  expect(splitter.push(Buffer.from("o\nthree\nfo"))).toBe(14);
  isOpen = false;
  expect(splitter.push(Buffer.from("ur\nfive\nsix\nsev"))).toBe(28);
  isOpen = true;
  // Ten bytes are missing before it.
  expect(splitter.push(Buffer.from("!\neight"), 41)).toBe(43);
  splitter.end();
  expect(lines).toEqual([
    ["one", 4],
    ["two", 8],
    ["three", 14],
    ["four", 19],
    ["sev", 31],
    ["!", 43],
    ["eight", 48],
  ]);
});
