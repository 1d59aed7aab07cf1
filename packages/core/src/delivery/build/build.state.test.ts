import { expect, test } from "vitest";
import { expectedBefore, isEnded, mayBecome } from "./build.state.ts";
import { buildStatuses } from "./build-contract.schema.ts";

test("BLD-1 the statuses of a build; an ended one never changes", () => {
  expect(buildStatuses).toEqual(["queued", "building", "succeeded", "failed", "canceled"]);
  for (const from of ["succeeded", "failed", "canceled"] as const) {
    expect(isEnded(from)).toBe(true);
    for (const to of buildStatuses) expect(mayBecome(from, to)).toBe(false);
  }
  expect(isEnded("building")).toBe(false);
  expect(expectedBefore("building")).toEqual(["queued"]);
  expect(expectedBefore("succeeded")).toEqual(["building"]);
  expect(expectedBefore("canceled")).toEqual(["queued", "building"]);
});
