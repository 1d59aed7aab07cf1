import { expect, test } from "vitest";
import { createBackOff } from "./back-off.ts";

test("RUN-6 back-off of 1, 2, 4 … 60 s, reset after a minute of health", () => {
  const backOff = createBackOff({ firstBackOffMs: 1000, maxBackOffMs: 60_000, healthyAfterMs: 60_000 });
  expect(backOff.remaining(0)).toBe(0);
  const waits = Array.from({ length: 8 }, () => backOff.failed(1000, 0));
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  expect(backOff.remaining(31_000)).toBe(30_000);
  expect(backOff.failed(5000, 59_999)).toBe(60_000);
  expect(backOff.failed(5000, 60_000)).toBe(1000);
  expect(backOff.failures).toBe(1);
});
