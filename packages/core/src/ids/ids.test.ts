import { expect, test } from "vitest";
import { newId } from "./index.ts";

test("an id is a UUIDv7 with the time, and later ids sort after it", () => {
  const before = Date.now();
  const ids = Array.from({ length: 1000 }, newId);
  const time = Number.parseInt((ids[0] ?? "").replace("-", "").slice(0, 12), 16);
  expect(time).toBeGreaterThanOrEqual(before);
  expect(time).toBeLessThanOrEqual(Date.now());
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});
