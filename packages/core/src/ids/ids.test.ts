import { expect, test } from "vitest";
import { newId } from "./index.ts";

test("newId carries version 7, the variant and the time", () => {
  const id = newId(0x0192_3456_789a);
  expect(id).toMatch(/^01923456-789a-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newId(1) < newId(2)).toBe(true);
  expect(newId(1)).not.toBe(newId(1));
});
