import { expect, test } from "vitest";

test("one that passes", () => {});

test("one that fails", () => {
  expect("this").toBe("that");
});

test("one that leaves a rejected promise", () => {
  void Promise.reject(new Error("nobody waited for this"));
});
