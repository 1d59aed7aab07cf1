import { expect, test } from "vitest";
import { counted } from "./counted.ts";

test("BLD-3 the log counts as people do", () => {
  expect([0, 1, 2].map((count) => counted(count, "file"))).toEqual(["0 files", "1 file", "2 files"]);
});
