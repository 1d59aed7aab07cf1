import type { LogQueryInput, LogSearch, LogStatsQueryInput, TimeRange } from "./log-query.schema.ts";

// Apart from the schemas: a page that only translates its search does not load zod for it.

/** Length of each time range in milliseconds. */
export const timeRangeMs: Readonly<Record<TimeRange, number>> = {
  "15m": 15 * 60_000,
  "1h": 3_600_000,
  "6h": 6 * 3_600_000,
  "24h": 24 * 3_600_000,
  "7d": 7 * 24 * 3_600_000,
  "30d": 30 * 24 * 3_600_000,
};

/** Translates the screen's search into a log query (PRJ-5). */
export function logQueryFromSearch(projectId: string, search: LogSearch): LogStatsQueryInput {
  return {
    projectId,
    timeRange: search.timeRange,
    ...(search.status === "error" ? { isError: true } : {}),
    ...(search.status === "refused" ? { isRefused: true } : {}),
    ...methodFilter(search.methodType),
  };
}

function methodFilter(methodType: string): Pick<LogQueryInput, "toolName" | "methodPrefix" | "jsonrpcMethod"> {
  if (methodType === "all" || methodType === "") return {};
  if (methodType.startsWith("tool:")) return { toolName: methodType.slice("tool:".length) };
  if (methodType.endsWith("/*")) return { methodPrefix: methodType.slice(0, -"*".length) };
  return { jsonrpcMethod: methodType };
}
