import { createFileRoute, notFound, stripSearchParams } from "@tanstack/react-router";
import { TowpathError } from "@towpath/core/errors";
import type { TimeRange } from "@towpath/logs/schema";
import { activitySearchParameters, defaultActivitySearch } from "~/features/analytics/activity-search.ts";
import { ActivityError, ActivityNotFound, ActivityPending } from "~/features/analytics/activity-states.tsx";
import { sessionsQuery, userUsageQuery } from "~/features/analytics/analytics.functions.ts";
import { UserPage } from "~/features/analytics/user-detail-page.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/users/$userId")({
  validateSearch: activitySearchParameters,
  search: { middlewares: [stripSearchParams(defaultActivitySearch)] },
  loaderDeps: ({ search: deps }) => deps,
  loader: async ({ context, params, deps: { timeRange } }) => {
    try {
      await Promise.all([
        context.queryClient.ensureQueryData(userUsageQuery(params, params.userId, timeRange)),
        context.queryClient.ensureInfiniteQueryData(sessionsQuery(params, timeRange, params.userId)),
      ]);
    } catch (error) {
      if (error instanceof TowpathError && error.code === "not_found") throw notFound();
      throw error;
    }
  },
  head: ({ params }) => ({ meta: [{ title: `User · ${params.projectName} · Towpath` }] }),
  component: UserRoute,
  pendingComponent: () => <ActivityPending title="User" />,
  errorComponent: ({ error, reset }) => <ActivityError title="User" error={error} reset={reset} />,
  notFoundComponent: () => (
    <ActivityNotFound title="No such user">Nobody with this id has called this server lately.</ActivityNotFound>
  ),
});

function UserRoute() {
  const { userId, ...projectKey } = Route.useParams();
  const { timeRange } = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: TimeRange) => void navigate({ search: { timeRange: next }, replace: true, resetScroll: false });
  return <UserPage projectKey={projectKey} userId={userId} timeRange={timeRange} onTimeRange={change} />;
}
