import { expect, test } from "vitest";
import { expectedBefore, isEnded, mayBecome } from "./instance.state.ts";

test("an ended instance stays ended, and only a running one freezes", () => {
  expect(expectedBefore("frozen")).toEqual(["ready"]);
  expect(expectedBefore("starting")).toEqual([]);
  expect(mayBecome("crashed", "ready")).toBe(false);
  expect(isEnded("stopped") && isEnded("crashed")).toBe(true);
});
