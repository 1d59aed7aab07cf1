import { expect, test } from "vitest";
import { comparable, differencesOf } from "./json-diff.ts";

test("CAP-8 answers are compared by their structure: by key in objects, and by place in lists", () => {
  expect(differencesOf({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toEqual([]);
  const before = { a: 1, list: [{ x: "old" }, 2], gone: null, same: { deep: true } };
  const after = { a: "1", list: [{ x: "new" }, 2, 3], same: { deep: true }, more: {} };
  expect(differencesOf(before, after)).toEqual([
    { path: "a", before: 1, after: "1" },
    { path: "list[0].x", before: "old", after: "new" },
    { path: "list[2]", before: undefined, after: 3 },
    { path: "gone", before: null, after: undefined },
    { path: "more", before: undefined, after: {} },
  ]);
  expect(differencesOf([], {})).toEqual([{ path: "", before: [], after: {} }]);
});

test("CAP-8 JSON in texts is compared as values, and metadata of an answer is not compared", () => {
  const answer = (text: string, _meta = {}) => comparable({ content: [{ type: "text", text }], _meta });
  expect(differencesOf(answer('{"a": 1, "b": 2}', { at: 1 }), answer('{"b":2,"a":1}', { at: 2 }))).toEqual([]);
  expect(differencesOf(answer('{"a": 1}'), answer('{"a": 2}'))).toEqual([
    { path: "content[0].text.a", before: 1, after: 2 },
  ]);
  expect(differencesOf(answer("{not json"), answer("{no json"))).toEqual([
    { path: "content[0].text", before: "{not json", after: "{no json" },
  ]);
});
