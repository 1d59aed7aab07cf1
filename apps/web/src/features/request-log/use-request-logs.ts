import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import type { LogSearch, RequestLogEntry } from "@towpath/logs/schema";
import { timeRangeMs } from "@towpath/logs/search";
import { useMemo, useState } from "react";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { logStatsQuery, newestLogsQuery, type OlderRange, olderLogsQuery } from "./request-log.functions.ts";
import { useLogChanges } from "./use-log-changes.ts";

/** Polling interval when the server sends no change events because too many pages are open. */
const pollIntervalMs = 5000;
const rangeRefreshMs = 60_000;

/** Two lists in order, each row once. */
function joinRows(newest: readonly RequestLogEntry[], older: readonly RequestLogEntry[]): RequestLogEntry[] {
  const seen = new Set(newest.map((row) => row.id));
  return [...newest, ...older.filter((row) => !seen.has(row.id))];
}

/**
 * The request log of a search: the newest rows as they come while it is live. Loading older rows pauses it, so that
 * the list stays still.
 */
export function useRequestLogs(project: ProjectKey, search: LogSearch) {
  const [live, setLive] = useState(true);
  const [range, setRange] = useState<OlderRange | null>(null);
  const client = useQueryClient();
  const refetch = (part: "newest" | "stats") => () =>
    void client.refetchQueries({ queryKey: [...projectQueryKey(project), "logs", part], type: "active" });
  const isNotified = useLogChanges(project, live, refetch("newest"), refetch("stats"));
  const pollMs = live && !isNotified ? pollIntervalMs : false;
  const newest = useQuery({ ...newestLogsQuery(project, search, pollMs), placeholderData: keepPreviousData });
  // The range moves with the clock even when there are no calls.
  const statsMs = live ? pollMs || rangeRefreshMs : false;
  const stats = useQuery({
    ...logStatsQuery(project, search, statsMs),
    placeholderData: keepPreviousData,
    // The sums don't know what a search looks through.
    enabled: search.search === undefined,
  });
  const older = useInfiniteQuery(olderLogsQuery(project, search, range));

  const rows = useMemo(
    () => joinRows(newest.data?.data ?? [], older.data?.pages.flatMap((page) => page.data) ?? []),
    [newest.data, older.data],
  );
  const showOlder = () => {
    const last = newest.data?.data.at(-1);
    if (range) return void older.fetchNextPage();
    if (!last) return;
    setLive(false);
    setRange({ from: new Date(Date.now() - timeRangeMs[search.timeRange]).toISOString(), before: last.time });
  };
  return {
    rows,
    stats: stats.data,
    live,
    setLive: (next: boolean) => {
      setLive(next);
      if (next) setRange(null);
    },
    loading: newest.isPending,
    error: newest.error,
    retry: () => void newest.refetch(),
    hasOlder: range ? older.hasNextPage : (newest.data?.hasMore ?? false),
    loadingOlder: older.isFetching,
    showOlder,
  };
}
