import { expect, test } from "vitest";
import { moveInList } from "./list-navigation.ts";

const plain = { ctrlKey: false, metaKey: false, altKey: false };

test.each([
  ["ArrowDown", 0, { to: 1 }],
  ["ArrowDown", 19, { to: 19 }],
  ["ArrowUp", 0, { to: 0 }],
  ["Home", 7, { to: 0 }],
  ["End", 7, { to: 19 }],
  ["PageDown", 15, { to: 19 }],
  ["PageUp", 15, { to: 5 }],
  ["w", 3, { type: "w" }],
  [" ", 3, null],
  ["Tab", 3, null],
  ["Enter", 3, null],
])("PRJ-4 UI-4 %s at %i of a list of 20", (key, at, expected) => {
  expect(moveInList({ ...plain, key }, at, 20)).toEqual(expected);
});

test("PRJ-4 UI-4 keys with Ctrl, Alt or Meta stay the browser's, and an empty list has nowhere to go", () => {
  for (const held of ["ctrlKey", "metaKey", "altKey"])
    expect(moveInList({ ...plain, key: "f", [held]: true }, 0, 5)).toBeNull();
  expect(moveInList({ ...plain, key: "ArrowDown" }, -1, 0)).toBeNull();
});
