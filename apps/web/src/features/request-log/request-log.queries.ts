import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { LogSearch, RequestLogDetail, RequestLogPage } from "@towpath/logs/schema";
import { logQueryFromSearch } from "@towpath/logs/search";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.queries.ts";
import { getLogEntry, getLogStats, queryLogs } from "./request-log.functions.ts";

const pageSize = 100;
/** The project is named by its address; the id in this place is never sent. */
const queryOf = (key: ProjectKey, search: LogSearch) => {
  const { projectId: _projectId, ...query } = logQueryFromSearch("", search);
  return { ...key, ...query };
};

/** The newest 100 rows. `refetchMs`: how often to ask without being told of changes. */
export const newestLogsQuery = (key: ProjectKey, search: LogSearch, refetchMs: number | false = false) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "logs", "newest", search],
    queryFn: ({ signal }): Promise<RequestLogPage> =>
      queryLogs({ data: { ...queryOf(key, search), limit: pageSize }, signal }),
    refetchInterval: refetchMs,
    staleTime: 0,
    gcTime: 60_000,
  });

/** Where the newest rows ended when somebody asked for older ones; ISO 8601. */
export type OlderRange = { readonly from: string; readonly before: string };

/** Rows of a fixed range by pages of 100: they do not move while new ones come in. */
export const olderLogsQuery = (key: ProjectKey, search: LogSearch, range: OlderRange | null) =>
  infiniteQueryOptions({
    queryKey: [...projectQueryKey(key), "logs", "older", search, range],
    queryFn: ({ pageParam, signal }): Promise<RequestLogPage> => {
      const dates = range ? { startDate: new Date(range.from), endDate: new Date(range.before) } : {};
      return queryLogs({ data: { ...queryOf(key, search), ...dates, limit: pageSize, offset: pageParam }, signal });
    },
    initialPageParam: 0,
    getNextPageParam: (last) => (last.hasMore ? last.offset + last.limit : undefined),
    enabled: range !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });

/** Numbers, chart and facets. */
export const logStatsQuery = (key: ProjectKey, search: LogSearch, refetchMs: number | false) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "logs", "stats", search],
    queryFn: ({ signal }) => getLogStats({ data: queryOf(key, search), signal }),
    refetchInterval: refetchMs,
    staleTime: 0,
    gcTime: 60_000,
  });

/** A row with its payloads, which lists leave out. It never changes. */
export const logEntryQuery = (key: ProjectKey, row: { id: string; time: string }) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "logs", "entry", row.id],
    queryFn: ({ signal }): Promise<RequestLogDetail> =>
      getLogEntry({ data: { ...key, id: row.id, time: new Date(row.time) }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
