import { expect, test } from "vitest";
import { errorTone, isAlarming } from "./error-count.tsx";

test("PRJ-7 PRJ-19 errors of fewer than twenty calls are not red, even if all of them failed", () => {
  const of = (calls: number, errors: number) => isAlarming({ calls, errors });
  expect([of(20, 1), of(20, 20)]).toEqual([true, true]);
  expect([of(20, 0), of(19, 1), of(19, 19), of(3, 3)]).toEqual([false, false, false, false]);
  expect([errorTone({ calls: 20, errors: 1 }), errorTone({ calls: 19, errors: 19 })]).toEqual(["bad", "warn"]);
});
