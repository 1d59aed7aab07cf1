import type { LogSearch, TimeRange } from "@towpath/logs/schema";
import { oneOf, searchParameters, text, withDefault } from "~/http/search-parameters.ts";

const timeRanges = ["15m", "1h", "6h", "24h", "7d", "30d"] as const satisfies readonly TimeRange[];

/** What the screen shows without anything in the address. */
export const defaultLogSearch = { status: "all", methodType: "all", timeRange: "24h" } as const satisfies LogSearch;

/** Search parameters of the logs screen (PRJ-5). */
export const logSearchParameters = searchParameters({
  status: withDefault(oneOf<LogSearch["status"]>(["all", "error"]), defaultLogSearch.status),
  methodType: withDefault(text(512), defaultLogSearch.methodType),
  timeRange: withDefault(oneOf(timeRanges), defaultLogSearch.timeRange),
});
