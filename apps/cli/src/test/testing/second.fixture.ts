import { existsSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";

const attempt = process.env.TEST_ATTEMPT_FILE ?? "/dev/null";

test("one that passes", () => {});

test("one that passes the second time", () => {
  const isFirst = !existsSync(attempt);
  if (isFirst) writeFileSync(attempt, "");
  expect(isFirst).toBe(false);
});
