import { keepPreviousData, useQuery, useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { Users } from "lucide-react";
import { timeRangeLabels } from "~/features/project/request-log/log-filters.ts";
import { clientText, PrincipalLabel } from "~/features/shared/project-screen/principal-label.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { ErrorCount } from "~/ui/error-count.tsx";
import { formatCount } from "~/ui/figure.tsx";
import { Sparkline } from "~/ui/sparkline.tsx";
import { Table, TableBody, TableHead, Td, Th, Tr } from "~/ui/table.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { useSorted } from "~/ui/use-sorted.ts";
import { ActivityPage } from "./activity-page.tsx";
import { type NamedUser, userActivityQuery, usersQuery } from "./analytics.functions.ts";

const sortedBy = {
  User: ({ principal }: NamedUser) => principal.name,
  "Latest client": (user: NamedUser) => clientText(user),
  Calls: ({ calls }: NamedUser) => calls,
  Errors: ({ errors }: NamedUser) => errors,
  "First call": ({ firstSeen }: NamedUser) => firstSeen,
  "Last call": ({ lastSeen }: NamedUser) => lastSeen,
};

/** Users of a project's servers (PRJ-6). */
export function UsersPage({
  projectKey,
  timeRange,
  onTimeRange,
}: {
  projectKey: ProjectKey;
  timeRange: TimeRange;
  onTimeRange: (timeRange: TimeRange) => void;
}) {
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
      table={users.length > 0 ? <UserTable {...{ projectKey, users, timeRange }} isWhole={!list.hasNextPage} /> : null}
      empty={{
        icon: <Users aria-hidden />,
        title: `Nobody called in the ${timeRangeLabels[timeRange].toLowerCase()}`,
        text: "A user appears here a few seconds after their first accepted call.",
      }}
      list={list}
    />
  );
}

function UserTable({
  projectKey,
  users,
  timeRange,
  isWhole,
}: {
  projectKey: ProjectKey;
  users: readonly NamedUser[];
  timeRange: TimeRange;
  isWhole: boolean;
}) {
  const { rows, sort } = useSorted(users, sortedBy, isWhole);
  return (
    <Table label="Users">
      <TableHead>
        <Th className="w-2/5" sort={sort("User")}>
          User
        </Th>
        <Th className="w-1/4" sort={sort("Latest client")}>
          Latest client
        </Th>
        <Th className="max-lg:hidden" sort={sort("Activity")}>
          Activity
        </Th>
        <Th className="text-right" sort={sort("Calls")}>
          Calls
        </Th>
        <Th className="text-right" sort={sort("Errors")}>
          Errors
        </Th>
        <Th className="text-right" sort={sort("First call")}>
          First call
        </Th>
        <Th className="text-right" sort={sort("Last call")}>
          Last call
        </Th>
      </TableHead>
      <TableBody>
        {rows.map((user) => (
          <Tr key={user.principal.id} className="relative">
            <Td wide className="max-w-0 max-sm:max-w-none">
              <Link
                to="/$orgSlug/$projectName/users/$userId"
                params={{ ...projectKey, userId: user.principal.id }}
                search={{ timeRange }}
                className="block truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus"
              >
                <PrincipalLabel principal={user.principal} />
              </Link>
            </Td>
            <Td wide label="Latest client" className="max-w-0 truncate text-muted max-sm:max-w-none">
              {clientText(user)}
            </Td>
            <Td className="w-24 max-lg:hidden!">
              {user.course.length > 2 ? <Sparkline values={user.course} className="w-20" /> : null}
            </Td>
            <Td label="Calls" className="tabular sm:text-right">
              {formatCount(user.calls)}
            </Td>
            <Td label="Errors" className="tabular sm:text-right">
              <ErrorCount {...user} />
            </Td>
            <Td label="First call" className="whitespace-nowrap text-muted sm:text-right">
              <RelativeTime time={user.firstSeen} />
            </Td>
            <Td label="Last call" className="whitespace-nowrap text-muted sm:text-right">
              <RelativeTime time={user.lastSeen} />
            </Td>
          </Tr>
        ))}
      </TableBody>
    </Table>
  );
}
