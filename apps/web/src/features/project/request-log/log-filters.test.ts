import { logQueryFromFilters } from "@towpath/logs/search";
import { expect, test } from "vitest";
import { isFiltered } from "./is-filtered.ts";
import { logSearchParameters, withFilters } from "./log-filters.ts";

test("PRJ-5 each kind of value becomes its own kind of filter", () => {
  const read = (search: unknown) => logSearchParameters.parse(search);
  const queryOf = (methodType: string) => logQueryFromFilters(read({ methodType }), true);
  expect(queryOf("tool:echo")).toMatchObject({ toolName: "echo" });
  expect(queryOf("tools/*")).toMatchObject({ methodPrefix: "tools/" });
  expect(queryOf("tools/call")).toMatchObject({ jsonrpcMethod: "tools/call" });
  expect(read({ status: "bogus", timeRange: "25h" })).toEqual({ status: "all", methodType: "all", timeRange: "24h" });
});

test("PRJ-5 only filters count as filters, not the times", () => {
  const none = { status: "all", methodType: "all", timeRange: "15m" } as const;
  expect(isFiltered({ ...none, from: "2026-11-21T10:00:00.000Z", to: "2026-11-21T11:00:00.000Z" })).toBe(false);
  expect(isFiltered({ ...none, status: "error" })).toBe(true);
  expect(isFiltered({ ...none, client: "cursor" })).toBe(true);
});

test("PRJ-5 other filters keep the times, and leave none of the filters before", () => {
  const before = {
    status: "error",
    methodType: "tool:echo",
    client: "cursor",
    timeRange: "7d",
    protocol: true,
  } as const;
  expect(withFilters(before, { status: "all", methodType: "ping" })).toEqual({
    status: "all",
    methodType: "ping",
    timeRange: "7d",
    from: undefined,
    to: undefined,
    protocol: true,
  });
});

test("PRJ-5 the address has a period in one form only, and no other times", () => {
  const read = (search: unknown) => logSearchParameters.parse(search);
  expect(read({ from: "2026-11-21T10:00:00Z", to: "x" })).toMatchObject({
    from: "2026-11-21T10:00:00.000Z",
    to: undefined,
  });
});
