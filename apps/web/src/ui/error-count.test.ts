import { expect, test } from "vitest";
import { isAlarming } from "./error-count.tsx";

test("PRJ-7 errors are red where calls are many, or where all of several failed", () => {
  const of = (calls: number, errors: number) => isAlarming({ calls, errors });
  expect([of(20, 1), of(5, 5), of(3, 3)]).toEqual([true, true, true]);
  expect([of(20, 0), of(19, 1), of(2, 2), of(5, 4)]).toEqual([false, false, false, false]);
});
