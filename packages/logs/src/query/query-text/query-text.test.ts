import fc from "fast-check";
import { expect, test } from "vitest";
import type { LogFilters } from "../log-query.schema.ts";
import { formatQueryText, keptValues, queryKeys } from "./query-parts.ts";
import { parseQueryText } from "./query-text.ts";

const none: LogFilters = { status: "all", methodType: "all" };

test.each<[text: string, filters: Partial<LogFilters>]>([
  ["", {}],
  ["  tool:echo  ", { methodType: "tool:echo" }],
  ['tool:"two words"', { methodType: "tool:two words" }],
  ["prompt:greet", { methodType: "prompts/get", target: "greet" }],
  ["resource:notes://1?a=b:c", { methodType: "resources/read", target: "notes://1?a=b:c" }],
  ["method:resources/* STATUS:Error", { methodType: "resources/*", status: "error" }],
  ['client:"My client" user:ada@example.com', { client: "My client", user: "ada@example.com" }],
  ["user:key:0192 session:a:b deployment:1a2b3c4", { user: "key:0192", session: "a:b", deployment: "1a2b3c4" }],
  ["status:failed branch:feature/x", { status: "failed", branch: "feature/x" }],
  ["kept:Unknown", { kept: "unknown" }],
  ["duration:>1.5s client:Cur", { duration: ">1.5s", client: "Cur" }],
  ["  no such   file ", { search: "no such file" }],
  ['"tool:echo" timed', { search: "tool:echo timed" }],
  ['"a \\"quoted\\" \\\\ text"', { search: 'a "quoted" \\ text' }],
  ["https://example.com/x at 12:30", { search: "https://example.com/x at 12:30" }],
])("PRJ-5 a query is read: %s", (text, filters) => {
  expect(parseQueryText(text)).toEqual({ filters: { ...none, ...filters }, problems: [] });
});

test.each<[text: string, problem: string, at: [from: number, to: number]]>([
  ["tools:echo", "There is no tools: filter. Did you mean tool:? To search for that text, put it in quotes.", [0, 10]],
  ["a clinet:x", "There is no clinet: filter. Use tool: prompt: resource:", [2, 10]],
  ["cliemt:x", "Did you mean client:?", [0, 8]],
  ["Error: no file", "There is no Error: filter.", [0, 6]],
  ["tool:", "tool: needs a value, such as tool:echo.", [0, 5]],
  ["status:bad", "status: is ok, error, failed or refused, not “bad”.", [0, 10]],
  ["kept:lost", "kept: is waiting, fetched, expired, unknown, canceled or dropped, not “lost”.", [0, 9]],
  ["duration:500", "duration: is more or less than a time, such as duration:>500 or duration:<1.5s", [0, 12]],
  ["tool:a tool:b", "tool: appears twice. Keep one of them.", [7, 13]],
  ["tool:a method:ping", "tool: and method: can't be combined: each message has one method.", [7, 18]],
  ['client:"My', 'A quote is open. Close it with another ".', [0, 10]],
  [`session:${"x".repeat(129)}`, "session: takes at most 128 characters.", [0, 137]],
  ["x".repeat(513), "Search for at most 512 characters.", [0, 513]],
])("PRJ-5 what can't be read is explained: %s", (text, problem, [from, to]) => {
  const { problems } = parseQueryText(text);
  expect(problems).toEqual([{ from, to, text: expect.stringContaining(problem) }]);
});

test("PRJ-5 the text of any filters parses to the same filters", () => {
  const value = fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }).filter((text) => text.trim() !== "");
  const word = value.map((text) => text.trim().replace(/\s+/g, " "));
  const filters = fc.record(
    {
      status: fc.constantFrom<LogFilters["status"]>("all", "ok", "error", "failed", "refused"),
      methodType: fc.oneof(
        fc.constantFrom("all", "tools/call", "resources/*"),
        value.map((text) => `tool:${text}`),
      ),
      duration: fc.constantFrom(">500", "<20ms", ">1.5s"),
      kept: fc.constantFrom(...keptValues),
      client: value,
      session: value,
      user: value,
      deployment: value,
      branch: value,
      search: word,
    },
    { requiredKeys: ["status", "methodType"] },
  );
  fc.assert(
    fc.property(filters, (given) => {
      expect(parseQueryText(formatQueryText(given))).toEqual({ filters: given, problems: [] });
    }),
  );
  const resource = { ...none, methodType: "resources/read", target: "a b" };
  expect(formatQueryText(resource)).toBe('resource:"a b"');
  expect(formatQueryText({ ...none, search: "tool:echo" })).toBe('"tool:echo"');
  expect(formatQueryText({ ...none, client: "//x" })).toBe('client:"//x"');
  expect(queryKeys.every((key) => parseQueryText(`${key}:`).problems.length === 1)).toBe(true);
});
