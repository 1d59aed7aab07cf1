import { expect, test } from "vitest";
import { countOf, megabytes, seconds } from "./failure.ts";

test("BLD-3 logs and diagnoses use singular and plural, and round sizes and times", () => {
  expect([0, 1, 2].map((count) => countOf(count, "file"))).toEqual(["0 files", "1 file", "2 files"]);
  expect([seconds(800), seconds(60_000)]).toEqual(["1 second", "60 seconds"]);
  expect(megabytes(300 * 1024 * 1024)).toBe("300 MB");
});
