import type { LogSearch, RequestLogStats, TimeRange } from "@towpath/logs/schema";
import { oneOf, searchParameters, text, uuid, withDefault } from "~/http/search-parameters.ts";

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

export type MethodOption = { value: string; label: string; note: number | undefined; group: string | undefined };

/**
 * What the method filter offers (PRJ-5): everything, the prefixes and methods that occurred, the tools that were
 * called, each with its count. The selected value stays in the list even when it didn't occur.
 */
export function methodOptions(stats: Pick<RequestLogStats, "methods" | "tools">, chosen: string): MethodOption[] {
  const prefixes = new Map<string, { total: number; methods: number }>();
  for (const { method, total } of stats.methods) {
    const slash = method.indexOf("/");
    if (slash <= 0) continue;
    const prefix = method.slice(0, slash);
    const before = prefixes.get(prefix) ?? { total: 0, methods: 0 };
    prefixes.set(prefix, { total: before.total + total, methods: before.methods + 1 });
  }
  const options: MethodOption[] = [
    { value: "all", label: "All methods", note: undefined, group: undefined },
    ...[...prefixes]
      .filter(([, { methods }]) => methods > 1)
      .map(([prefix, { total }]) => ({ value: `${prefix}/*`, label: `${prefix}/*`, note: total, group: "Groups" })),
    ...stats.methods.map(({ method, total }) => ({ value: method, label: method, note: total, group: "Methods" })),
    ...stats.tools.map(({ tool, total }) => ({ value: `tool:${tool}`, label: tool, note: total, group: "Tools" })),
  ];
  if (options.some((option) => option.value === chosen)) return options;
  const label = chosen.startsWith("tool:") ? chosen.slice("tool:".length) : chosen;
  return [...options, { value: chosen, label, note: 0, group: "Selected" }];
}

/** Whether any filter besides the time range is set. */
export const isFiltered = (search: LogSearch): boolean =>
  search.status !== "all" || search.methodType !== "all" || search.search !== undefined;

export const timeRanges = ["15m", "1h", "6h", "24h", "7d", "30d"] as const satisfies readonly TimeRange[];

/** The defaults, for a URL without parameters. */
export const defaultLogSearch = { status: "all", methodType: "all", timeRange: "24h" } as const satisfies LogSearch;

/** Finds what limits refused: how the texts of all of them begin (GW-8). */
export const limitedSearch = {
  ...defaultLogSearch,
  status: "refused",
  search: "Towpath's limit",
} as const satisfies LogSearch;

/** Search parameters of the logs screen (PRJ-5). */
export const logSearchParameters = searchParameters({
  status: withDefault(oneOf<LogSearch["status"]>(["all", "error", "refused"]), defaultLogSearch.status),
  methodType: withDefault(text(512), defaultLogSearch.methodType),
  timeRange: withDefault(oneOf(timeRanges), defaultLogSearch.timeRange),
  search: text(512),
  /** The request whose details are open (PRJ-20). */
  request: uuid,
});
