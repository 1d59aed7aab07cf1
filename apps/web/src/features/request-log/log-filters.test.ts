import { logQueryFromSearch } from "@towpath/logs/search";
import { expect, test } from "vitest";
import { isFiltered, logSearchParameters, methodOptions } from "./log-filters.ts";

const stats = {
  methods: [
    { method: "tools/call", total: 40, errors: 2 },
    { method: "tools/list", total: 10, errors: 0 },
    { method: "initialize", total: 5, errors: 0 },
    { method: "resources/read", total: 3, errors: 0 },
  ],
  tools: [{ tool: "echo", total: 40, errors: 2 }],
};

test("PRJ-5 the filter lists methods, prefixes shared by several, and tools, with their counts", () => {
  const options = methodOptions(stats, "all").map(({ value, note }) => [value, note]);
  expect(options).toEqual([
    ["all", undefined],
    ["tools/*", 50],
    ["tools/call", 40],
    ["tools/list", 10],
    ["initialize", 5],
    ["resources/read", 3],
    ["tool:echo", 40],
  ]);
});

test("PRJ-5 each kind of value becomes its own kind of filter", () => {
  const projectId = "0192b0f4-7b7a-7c3c-8f00-000000000001";
  const read = (search: unknown) => logSearchParameters.parse(search);
  const queryOf = (methodType: string) => logQueryFromSearch(projectId, read({ methodType }));
  expect(queryOf("tool:echo")).toMatchObject({ toolName: "echo" });
  expect(queryOf("tools/*")).toMatchObject({ methodPrefix: "tools/" });
  expect(queryOf("tools/call")).toMatchObject({ jsonrpcMethod: "tools/call" });
  expect(read({ status: "bogus", timeRange: "25h" })).toEqual({ status: "all", methodType: "all", timeRange: "24h" });
});

test("PRJ-5 a selected tool without recent calls stays in the list", () => {
  expect(methodOptions(stats, "tool:gone").at(-1)).toMatchObject({ value: "tool:gone", label: "gone", note: 0 });
});

test("PRJ-5 only status and method count as filters", () => {
  expect(isFiltered({ status: "all", methodType: "all", timeRange: "15m" })).toBe(false);
  expect(isFiltered({ status: "error", methodType: "all", timeRange: "24h" })).toBe(true);
});
