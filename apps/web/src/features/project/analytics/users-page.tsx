import { keepPreviousData, useQuery, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { Users } from "lucide-react";
import { timeRangeLabels } from "~/features/project/request-log/log-filters.ts";
import { clientText, PrincipalLabel } from "~/features/shared/project-screen/principal-label.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { actionsColumn, type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { callColumns } from "~/ui/error-count.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { Sparkline } from "~/ui/sparkline.tsx";
import { rowLinkLook } from "~/ui/table.tsx";
import { useOrderInAddress } from "~/ui/use-sorted.ts";
import { ActivityPage } from "./activity-page.tsx";
import { type NamedUser, userActivityQuery, usersQuery } from "./analytics.functions.ts";
import { CallsLink } from "./calls-link.tsx";

type UsersPageProps = {
  projectKey: ProjectKey;
  timeRange: TimeRange;
  onTimeRange: (timeRange: TimeRange) => void;
};

/** Who called a project's servers (PRJ-6). */
export function UsersPage({ projectKey, timeRange, onTimeRange }: UsersPageProps) {
  const activity = useQuery({ ...userActivityQuery(projectKey, timeRange), placeholderData: keepPreviousData });
  const list = useSuspenseInfiniteQuery(usersQuery(projectKey, timeRange));
  const users = list.data.pages.flatMap((page) => page.data);
  const stats = activity.data?.stats;
  return (
    <ActivityPage
      title="Users"
      description="Members, API keys and anyone else who called this server. All callers without credentials count as one anonymous user."
      timeRange={timeRange}
      onTimeRange={onTimeRange}
      panel={
        activity.isError
          ? null
          : {
              noun: "users called",
              series: activity.data?.series,
              figures: [
                { name: "Users", value: stats && formatCount(stats.users) },
                { name: "New", value: stats && formatCount(stats.newUsers) },
              ],
            }
      }
      table={
        users.length > 0 ? (
          <UserTable projectKey={projectKey} users={users} timeRange={timeRange} isWhole={!list.hasNextPage} />
        ) : null
      }
      empty={{
        icon: <Users />,
        title: `Nobody called in the ${timeRangeLabels[timeRange].toLowerCase()}`,
        text: "A user appears here a few seconds after their first accepted call. You are one after this:",
      }}
      projectKey={projectKey}
      list="users"
      rows={list}
    />
  );
}

type UserTableProps = {
  projectKey: ProjectKey;
  users: readonly NamedUser[];
  timeRange: TimeRange;
  isWhole: boolean;
};

function UserTable({ projectKey, users, timeRange, isWhole }: UserTableProps) {
  const kept = useOrderInAddress();
  const lastColumn = { headClassName: "text-right", className: "whitespace-nowrap text-muted sm:text-right" };
  const columns: readonly Column<NamedUser>[] = [
    leadColumn("User", ({ principal }) => principal.name, {
      cell: ({ principal }) => (
        <Link
          to="/$orgSlug/$projectName/users/$userId"
          params={{ ...projectKey, userId: principal.id }}
          search={{ timeRange }}
          data-row
          className={rowLinkLook}
        >
          <PrincipalLabel principal={principal} />
        </Link>
      ),
      headClassName: "w-2/5",
      className: "max-w-0 max-sm:max-w-none",
    }),
    {
      name: "Latest client",
      by: clientText,
      cell: clientText,
      wide: true,
      headClassName: "w-1/4",
      className: "max-w-0 truncate text-muted max-sm:max-w-none",
    },
    {
      name: "Activity",
      isUnlabeled: true,
      headClassName: "max-lg:hidden",
      className: "w-24 max-lg:hidden!",
      cell: ({ course }) => (course.length > 2 ? <Sparkline values={course} className="w-20" /> : null),
    },
    ...callColumns<NamedUser>(),
    timeColumn("First call", ({ firstSeen }) => firstSeen, lastColumn),
    timeColumn("Last call", ({ lastSeen }) => lastSeen, lastColumn),
    actionsColumn(({ principal }) => (
      <CallsLink projectKey={projectKey} search={{ user: principal.id, timeRange }} of={principal.name} />
    )),
  ];
  const keyOf = ({ principal }: NamedUser) => principal.id;
  return (
    <DataTable
      label="Users"
      rows={users}
      keyOf={keyOf}
      columns={columns}
      isWhole={isWhole}
      kept={kept}
      rowClassName="relative"
    />
  );
}
