import { describe, test } from "vitest";

const isHere = false;
const isThorough = false;

test.runIf(isHere)("ZZ-1 needs what this machine lacks", () => {});

describe.runIf(isHere)("ZZ-2 so does a group", () => {
  test("one of it", () => {});
});

test.runIf(isHere)("shows no promise", () => {});

test.runIf(isThorough)("ZZ-3 runs only in the stage `thorough`", () => {});
