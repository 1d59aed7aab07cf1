import { expect, test } from "vitest";
import { completionsAt, type LogValues } from "./completions.ts";

const values: LogValues = {
  tool: [
    { value: "echo", calls: 40 },
    { value: "make echo", calls: 2 },
  ],
  method: [
    { value: "tools/call", calls: 40 },
    { value: "tools/list", calls: 2 },
    { value: "ping", calls: 1 },
  ],
  prompt: [],
  resource: [{ value: "notes://all" }],
  client: [{ value: "cursor" }],
  session: [],
  deployment: [],
  branch: [{ value: "main" }],
  user: [{ value: "ada@example.com", detail: "Ada Lovelace" }],
};
const at = (text: string, caret = text.length) =>
  completionsAt(text, caret, values).flatMap(({ items }) => items.map((item) => item.label));

test("PRJ-5 the query bar offers filters, and values of the filter that is typed", () => {
  expect(at("")).toEqual([
    "tool:",
    "prompt:",
    "resource:",
    "method:",
    "status:",
    "duration:",
    "kept:",
    "client:",
    "user:",
    "session:",
    "deployment:",
    "branch:",
  ]);
  expect(at("s")).toEqual(["status:", "session:"]);
  expect(at("tool:")).toEqual(["tool:echo", 'tool:"make echo"']);
  expect(at("TOOL:make")).toEqual(['tool:"make echo"']);
  expect(at("status:")).toEqual(["status:ok", "status:error", "status:failed", "status:refused"]);
  expect(at("duration:")).toEqual(["duration:>500ms", "duration:>2s", "duration:<20ms"]);
  expect(at("method:tools")).toEqual(["method:tools/call", "method:tools/list", "method:tools/*"]);
  expect(at("user:love")).toEqual(["user:ada@example.com"]);
  expect(at("foo:")).toEqual([]);
  expect(completionsAt("tool:", 5, undefined)).toEqual([]);
});

test("PRJ-5 a word offers the values that contain it", () => {
  expect(at("echo")).toEqual(["tool:echo", 'tool:"make echo"']);
  expect(at("notes")).toEqual(["resource:notes://all"]);
});

test("PRJ-5 a chosen completion replaces the word at the caret and leaves the rest", () => {
  const [group] = completionsAt("status:error to client:x", 15, values);
  expect(group?.items[0]).toMatchObject({ text: "status:error tool: client:x", caret: 18, isComplete: false });
  const [found] = completionsAt("tool:ec client:x", 7, values);
  expect(found?.items[0]).toMatchObject({ text: "tool:echo client:x", caret: 10, isComplete: true });
});
