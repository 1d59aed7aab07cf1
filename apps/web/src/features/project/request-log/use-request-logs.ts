import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import type { LogSearch } from "@towpath/logs/schema";
import { timeRangeMs, withStatistics } from "@towpath/logs/search";
import { useEffect, useMemo, useState } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { throwsRefusal } from "~/features/shared/session/lost-access.ts";
import { countNew, joinRows } from "./join-rows.ts";
import {
  logStatsQuery,
  newestLogsQuery,
  type OlderRange,
  olderLogsQuery,
  type ShownPage,
} from "./request-log.functions.ts";
import { useLogChanges } from "./use-log-changes.ts";

/** Polling interval when the server sends no change events because too many pages are open. */
const pollIntervalMs = 5000;
const rangeRefreshMs = 60_000;

/**
 * The request log of a search. New rows appear while `isAtRest`; otherwise, and while the log is paused or older rows
 * are shown, the list stays still and counts them.
 *
 * @param isAtRest whether the list isn't scrolled down and no row is open
 */
export function useRequestLogs(project: ProjectKey, search: LogSearch, showsProtocol: boolean, isAtRest: boolean) {
  const [paused, setPaused] = useState(false);
  const [older, setOlder] = useState<{ readonly of: string; readonly range: OlderRange } | null>(null);
  const client = useQueryClient();
  const isFixed = search.from !== undefined;
  const key = JSON.stringify([project, search, showsProtocol]);
  const range = older?.of === key ? older.range : null;
  const refetch = (part: "newest" | "stats") => () =>
    void client.refetchQueries({ queryKey: [...projectQueryKey(project), "logs", part], type: "active" });
  const isNotified = useLogChanges(project, !isFixed, refetch("newest"), refetch("stats"));
  const pollMs = isFixed || isNotified ? false : pollIntervalMs;
  const newest = useQuery({
    ...newestLogsQuery(project, search, showsProtocol, pollMs),
    placeholderData: keepPreviousData,
    throwOnError: throwsRefusal,
  });
  // The range moves with the clock even when there are no calls.
  const statsMs = isFixed ? false : pollMs || rangeRefreshMs;
  const stats = useQuery({
    ...logStatsQuery(project, withStatistics(search), showsProtocol, statsMs),
    placeholderData: keepPreviousData,
  });
  const pages = useInfiniteQuery(olderLogsQuery(project, search, showsProtocol, range));

  const isHeld = paused || !isAtRest || range !== null;
  const page = useHeldPage(key, newest.isPlaceholderData ? undefined : newest.data, isHeld) ?? newest.data;
  const rows = useMemo(
    () => joinRows(page?.data ?? [], pages.data?.pages.flatMap((each) => each.data) ?? []),
    [page, pages.data],
  );
  const showOlder = () => {
    if (range) return void pages.fetchNextPage();
    if (!page?.nextCursor) return;
    const from = search.from ?? new Date(Date.now() - timeRangeMs[search.timeRange]).toISOString();
    setOlder({ of: key, range: { from, cursor: page.nextCursor } });
  };
  return {
    rows,
    stats: stats.data,
    paused,
    setPaused,
    isFixed,
    /** Number of rows that arrived while the list is held. */
    newRows: page && newest.data && isHeld ? countNew(page.data, newest.data.data) : 0,
    /** Shows the new rows and drops older pages. */
    showNew: () => {
      setPaused(false);
      setOlder(null);
    },
    loading: newest.isPending,
    /** A failed refetch keeps the shown rows. */
    error: newest.error ?? pages.error,
    retry: () => void (newest.error ? newest.refetch() : pages.refetch()),
    hasOlder: range ? pages.hasNextPage : (page?.hasMore ?? false),
    loadingOlder: pages.isFetching,
    showOlder,
  };
}

/** The newest page, or while `isHeld` the page shown when that began. A page of another `key` is shown at once. */
function useHeldPage(key: string, newest: ShownPage | undefined, isHeld: boolean): ShownPage | undefined {
  const [shown, setShown] = useState<{ readonly key: string; readonly page: ShownPage } | null>(null);
  const isShown = shown?.key === key;
  useEffect(() => {
    if (newest && (!isHeld || !isShown)) setShown({ key, page: newest });
  }, [key, newest, isHeld, isShown]);
  return isHeld && isShown ? shown.page : newest;
}
