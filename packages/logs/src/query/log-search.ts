import type { LogFilters, LogQueryInput, LogSearch, TimeRange } from "./log-query.schema.ts";

// Apart from the schemas, so that a page that only translates its search does not load zod.

/** Length of each time range in milliseconds. */
export const timeRangeMs: Readonly<Record<TimeRange, number>> = {
  "15m": 15 * 60_000,
  "1h": 3_600_000,
  "6h": 6 * 3_600_000,
  "24h": 24 * 3_600_000,
  "7d": 7 * 24 * 3_600_000,
  "30d": 30 * 24 * 3_600_000,
};

/**
 * Translates the filters of a search into a log query (PRJ-5), except for `user`, `deployment` and `branch`, which need
 * the database. A search for a method shows it, even if it is left out otherwise.
 */
export function logQueryFromFilters(filters: LogFilters, showsProtocol: boolean): Omit<LogQueryInput, "projectId"> {
  const { target, duration, client, kept, session, search } = filters;
  return {
    ...statusFilter(filters.status),
    ...methodFilter(filters.methodType),
    ...(target !== undefined && { target }),
    ...(duration !== undefined && durationLimits(duration)),
    ...(client !== undefined && { clientName: client }),
    ...(kept !== undefined && { kept }),
    ...(session !== undefined && { session }),
    ...(search !== undefined && { search }),
    ...(!showsProtocol && !asksForMethod(filters) && { withoutProtocol: true }),
  };
}

/** The period of a search: the chosen one, else the range that ends now. */
export function periodOfSearch({
  timeRange,
  from,
  to,
}: Pick<LogSearch, "timeRange" | "from" | "to">): Pick<LogQueryInput, "timeRange" | "startDate" | "endDate"> {
  if (from === undefined || to === undefined) return { timeRange };
  return { timeRange, startDate: new Date(from), endDate: new Date(to) };
}

/** Whether a search names methods: then none of them is left out. */
export const asksForMethod = ({ methodType }: Pick<LogFilters, "methodType">): boolean =>
  methodType !== "all" && methodType !== "";

/** Filters that the sums don't have: caller, duration and texts. */
const notInSums = [
  "client",
  "session",
  "user",
  "duration",
  "kept",
  "search",
] as const satisfies readonly (keyof LogFilters)[];

/** Whether statistics support all filters of a search. */
export const hasStatistics = (filters: LogFilters): boolean =>
  notInSums.every((filter) => filters[filter] === undefined);

/** The search without the filters that statistics don't support. */
export const withStatistics = <Search extends LogFilters>(search: Search): Search => ({
  ...search,
  ...Object.fromEntries(notInSums.map((filter) => [filter, undefined])),
});

/** Parses `>500`, `<20ms` or `>1.5s`; milliseconds without a unit. Null: none of these. */
export function durationLimits(text: string): Pick<LogQueryInput, "longerThanMs" | "shorterThanMs"> | null {
  const [, sign, number, unit] = /^([<>])(\d{1,8}(?:\.\d{1,3})?)(ms|s)?$/i.exec(text) ?? [];
  if (number === undefined) return null;
  const ms = Number(number) * (unit?.toLowerCase() === "s" ? 1000 : 1);
  return sign === ">" ? { longerThanMs: ms } : { shorterThanMs: ms };
}

function statusFilter(status: LogFilters["status"]): Pick<LogQueryInput, "hasFailed" | "isError" | "isRefused"> {
  if (status === "ok") return { hasFailed: false };
  if (status === "error") return { hasFailed: true };
  if (status === "failed") return { isError: true };
  return status === "refused" ? { isRefused: true } : {};
}

function methodFilter(methodType: string): Pick<LogQueryInput, "toolName" | "methodPrefix" | "jsonrpcMethod"> {
  if (methodType === "all" || methodType === "") return {};
  if (methodType.startsWith("tool:")) return { toolName: methodType.slice("tool:".length) };
  if (methodType.endsWith("/*")) return { methodPrefix: methodType.slice(0, -"*".length) };
  return { jsonrpcMethod: methodType };
}
