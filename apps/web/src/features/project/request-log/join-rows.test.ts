import { expect, test } from "vitest";
import { countNew, joinRows } from "./join-rows.ts";

const rows = (...ids: string[]) => ids.map((id) => ({ id }));

test("PRJ-5 a list that stands still counts the rows that came since", () => {
  expect(countNew(rows("c", "b", "a"), rows("c", "b", "a"))).toBe(0);
  expect(countNew(rows("c", "b", "a"), rows("e", "d", "c", "b"))).toBe(2);
  expect(countNew(rows("b", "a"), rows("f", "e"))).toBe(2);
  expect(countNew([], rows("b", "a"))).toBe(2);
  expect(countNew(rows("a"), [])).toBe(0);
});

test("PRJ-5 older rows follow the newest, each once", () => {
  expect(joinRows(rows("d", "c"), rows("c", "b"))).toEqual(rows("d", "c", "b"));
});
