import { beforeAll, describe, test } from "vitest";

describe("a group", () => {
  beforeAll(() => {
    throw new Error("the hook failed");
  });
  test("never runs", () => {});
});
