import { expect, test } from "vitest";
import { parseArguments, toArguments } from "./form-arguments.ts";

test("PRJ-4 unset fields are not sent; empty strings and explicit nulls are", () => {
  expect(toArguments({ a: undefined, b: "", c: null, d: { e: undefined, f: 0 }, g: [1, undefined] })).toEqual({
    b: "",
    c: null,
    d: { f: 0 },
    g: [1, null],
  });
  expect(toArguments(undefined)).toEqual({});
});

test("PRJ-4 typed JSON must be an object", () => {
  expect(parseArguments(' {"a": 1} ')).toEqual({ ok: true, value: { a: 1 } });
  expect(parseArguments("")).toEqual({ ok: true, value: {} });
  expect(parseArguments("[1]")).toMatchObject({ ok: false });
  expect(parseArguments("{a:1}")).toMatchObject({ ok: false });
});
