import { keepPreviousData, useQuery, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import type { TimeRange } from "@towpath/logs/schema";
import { MessagesSquare } from "lucide-react";
import { timeRangeLabels } from "~/features/project/request-log/log-filters.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { formatCount } from "~/ui/figure.tsx";
import { formatDuration } from "~/ui/time.tsx";
import { ActivityPage } from "./activity-page.tsx";
import { sessionActivityQuery, sessionsQuery } from "./analytics.functions.ts";
import { SessionTable } from "./session-table.tsx";

type SessionsPageProps = {
  projectKey: ProjectKey;
  timeRange: TimeRange;
  onTimeRange: (timeRange: TimeRange) => void;
};

/** The sessions of a project (PRJ-6). */
export function SessionsPage({ projectKey, timeRange, onTimeRange }: SessionsPageProps) {
  const activity = useQuery({ ...sessionActivityQuery(projectKey, timeRange), placeholderData: keepPreviousData });
  const list = useSuspenseInfiniteQuery(sessionsQuery(projectKey, timeRange));
  const sessions = list.data.pages.flatMap((page) => page.data);
  const stats = activity.data?.stats;
  const average = (value: number | null | undefined, format: (value: number) => string) =>
    value === undefined ? undefined : value === null ? "–" : format(value);
  return (
    <ActivityPage
      title="Sessions"
      description="Each client's session. Calls without a session id count as one session until a 30-minute pause."
      timeRange={timeRange}
      onTimeRange={onTimeRange}
      panel={
        activity.isError
          ? null
          : {
              noun: "sessions started",
              series: activity.data?.series,
              figures: [
                { name: "Sessions", value: stats && formatCount(stats.sessions) },
                {
                  name: "Calls per session",
                  value: average(stats?.callsPerSession, (calls) => calls.toFixed(calls < 10 ? 1 : 0)),
                },
                { name: "Average length", value: average(stats?.durationMs, formatDuration) },
              ],
            }
      }
      table={
        sessions.length > 0 ? (
          <SessionTable projectKey={projectKey} sessions={sessions} withPrincipal isWhole={!list.hasNextPage} />
        ) : null
      }
      empty={{
        icon: <MessagesSquare />,
        title: `No sessions in the ${timeRangeLabels[timeRange].toLowerCase()}`,
        text: "A session appears here a few seconds after a client's first call. Refused calls don't start one. This call would:",
      }}
      projectKey={projectKey}
      list="sessions"
      rows={list}
    />
  );
}
