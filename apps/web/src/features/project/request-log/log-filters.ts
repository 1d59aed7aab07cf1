import { keptValues } from "@towpath/logs/query-parts";
import type { LogFilters, LogSearch, TimeRange } from "@towpath/logs/schema";
import { flag, oneOf, order, searchParameters, text, uuid, withDefault } from "~/http/search-parameters.ts";

export const timeRangeLabels: Readonly<Record<TimeRange, string>> = {
  "15m": "Last 15 minutes",
  "1h": "Last hour",
  "6h": "Last 6 hours",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
};

export const rangeOptions = (Object.keys(timeRangeLabels) as TimeRange[]).map((value) => ({
  value,
  label: timeRangeLabels[value],
}));

/** A search with other filters, the same times and the same choice about the protocol. */
export const withFilters = (search: LogSearch, filters: LogFilters): LogSearch => {
  const { timeRange, from, to, protocol } = search;
  return { ...filters, timeRange, from, to, protocol };
};

export const timeRanges = ["15m", "1h", "6h", "24h", "7d", "30d"] as const satisfies readonly TimeRange[];

/** The defaults, for a URL without parameters. */
export const defaultLogSearch = { status: "all", methodType: "all", timeRange: "24h" } as const satisfies LogSearch;

/** Search for calls refused by limits, by the common part of their texts (GW-8). */
export const limitedSearch = {
  ...defaultLogSearch,
  status: "refused",
  search: "limit reached",
} as const satisfies LogSearch;

/** A time in ISO 8601, of a chosen period. */
const instant = (value: unknown): string | undefined => {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
};

/** Search parameters of the logs screen (PRJ-5). */
export const logSearchParameters = searchParameters({
  status: withDefault(oneOf<LogSearch["status"]>(["all", "ok", "error", "failed", "refused"]), defaultLogSearch.status),
  methodType: withDefault(text(512), defaultLogSearch.methodType),
  timeRange: withDefault(oneOf(timeRanges), defaultLogSearch.timeRange),
  target: text(1024),
  duration: text(16),
  kept: oneOf(keptValues),
  client: text(256),
  session: text(128),
  user: text(256),
  deployment: text(64),
  branch: text(250),
  search: text(512),
  from: instant,
  to: instant,
  protocol: flag,
  order,
  /** The request whose details are open (PRJ-20). */
  request: uuid,
});
