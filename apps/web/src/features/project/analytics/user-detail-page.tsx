import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { ScrollText } from "lucide-react";
import { timeRangeLabels } from "~/features/project/request-log/log-filters.ts";
import { clientText } from "~/features/shared/project-screen/principal-label.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { Card, CardHeader } from "~/ui/card.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";
import { isAlarming } from "~/ui/error-count.tsx";
import { Figure, formatCount } from "~/ui/figure.tsx";
import { Breadcrumbs, PageHeader } from "~/ui/page-header.tsx";
import { formatRelativeTime } from "~/ui/time.tsx";
import { RangeSelect } from "./activity-panel.tsx";
import { sessionsQuery, userUsageQuery } from "./analytics.functions.ts";
import { SessionTable } from "./session-table.tsx";
import { UsageTable } from "./usage-table.tsx";

type UserPageProps = {
  projectKey: ProjectKey;
  /** As in the request log: `user:<id>`, `key:<id>`, … */
  userId: string;
  timeRange: TimeRange;
  onTimeRange: (timeRange: TimeRange) => void;
};

/** A user of a project: sessions, and calls by item (PRJ-6). */
export function UserPage({ projectKey, userId, timeRange, onTimeRange }: UserPageProps) {
  const { data } = useSuspenseQuery(userUsageQuery(projectKey, userId, timeRange));
  const list = useSuspenseInfiniteQuery(sessionsQuery(projectKey, timeRange, userId));
  const sessions = list.data.pages.flatMap((page) => page.data);
  const { user, usage } = data;
  const range = timeRangeLabels[timeRange].toLowerCase();
  return (
    <>
      <PageHeader
        above={
          <Breadcrumbs
            label="Users"
            items={[
              {
                key: "users",
                content: (
                  <Link to="/$orgSlug/$projectName/users" params={projectKey} search={{ timeRange }}>
                    Users
                  </Link>
                ),
              },
              { key: "user", content: user.principal.name },
            ]}
          />
        }
        title={user.principal.name}
        description={user.principal.email}
        actions={
          <>
            <RangeSelect value={timeRange} onChange={onTimeRange} />
            <Link
              to="/$orgSlug/$projectName/logs"
              params={projectKey}
              search={{ user: user.principal.id, timeRange }}
              className={buttonLook()}
            >
              <ScrollText />
              Calls in the log
            </Link>
          </>
        }
      />
      <Card className="mb-3 px-4 py-3">
        <dl className="grid grid-cols-2 gap-x-6 gap-y-2 sm:grid-cols-4">
          <Figure name="Calls" value={formatCount(user.calls)} />
          <Figure name="Errors" value={formatCount(user.errors)} bad={isAlarming(user)} />
          <Figure name="Latest client" value={clientText(user)} />
          <Figure name="Last call" value={formatRelativeTime(Date.parse(user.lastSeen), Date.now())} />
        </dl>
      </Card>
      <Card className="mb-3">
        <CardHeader title="Sessions" />
        {sessions.length > 0 ? (
          <SessionTable projectKey={projectKey} sessions={sessions} withPrincipal={false} isWhole={!list.hasNextPage} />
        ) : (
          <EmptyState title={`No sessions in the ${range}`}>Choose a longer time range.</EmptyState>
        )}
        {list.hasNextPage && (
          <div className="flex justify-center border-t p-3">
            <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              Show older sessions
            </Button>
          </div>
        )}
      </Card>
      <Card>
        <CardHeader title="Usage" description={`The latest ${usage.counted} calls in the ${range}.`} />
        {usage.data.length > 0 ? (
          <UsageTable rows={usage.data} />
        ) : (
          <EmptyState title={`No calls in the ${range}`}>Choose a longer time range.</EmptyState>
        )}
      </Card>
    </>
  );
}
