import { expect, test } from "vitest";
import { redactor } from "./read-environment.ts";

test("KEY-4 values of secrets are replaced by their names, the longest first, and short ones stay", () => {
  const redact = redactor({ TOKEN: "abcdef", LONG_TOKEN: "abcdefghi", MODE: "prod", KEY: "line-one\nline-two" });
  expect(redact("abcdef abcdefghi prod abcdefabcdef")).toBe("[TOKEN] [LONG_TOKEN] prod [TOKEN][TOKEN]");
  expect(redact("x line-two y")).toBe("x [KEY] y");
  expect(redactor({})("abcdef")).toBe("abcdef");
});
