import { expect, test } from "vitest";
import { oneLine, storableText } from "./index.ts";

test("CAP-6 a text on one line has no control characters, no changed direction and no half characters", () => {
  expect(oneLine("a\r\nb\t\u001b[31mc\u202ed\u0085e", 20)).toBe("a b [31mc d e");
  expect(oneLine(`${"x".repeat(9)}\u{1f600}`, 10)).toBe(`${"x".repeat(9)}…`);
  expect(oneLine(`${"x".repeat(8)}\u{1f600}yz`, 11)).toBe(`${"x".repeat(8)}\u{1f600}…`);
  expect(oneLine(`${"x".repeat(8)}\u{1f600}yz`, 10)).toBe(`${"x".repeat(8)}…`);
  expect(oneLine("\ud83d alone", 20)).toBe("\ufffd alone");
  expect(storableText("a\0b\udc00")).toBe("a\ufffdb\ufffd");
});
