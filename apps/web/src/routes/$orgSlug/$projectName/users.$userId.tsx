import { createFileRoute, stripSearchParams } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { activitySearchParameters, defaultActivitySearch } from "~/features/project/analytics/activity-search.ts";
import { sessionsQuery, userUsageQuery } from "~/features/project/analytics/analytics.functions.ts";
import { UserPage } from "~/features/project/analytics/user-detail-page.tsx";
import { PageNotFound } from "~/features/shared/error-screens/page-error.tsx";
import { orNotFound } from "~/features/shared/project-screen/or-not-found.ts";
import { PagePending } from "~/ui/page-pending.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/users/$userId")({
  validateSearch: activitySearchParameters,
  search: { middlewares: [stripSearchParams(defaultActivitySearch)] },
  loaderDeps: ({ search: deps }) => deps,
  loader: async ({ context, params, deps: { timeRange } }) => {
    const { queryClient } = context;
    const loading = Promise.all([
      queryClient.ensureQueryData(userUsageQuery(params, params.userId, timeRange)),
      queryClient.ensureInfiniteQueryData(sessionsQuery(params, timeRange, params.userId)),
    ]);
    await orNotFound(queryClient, params, loading);
  },
  head: ({ params }) => ({ meta: [{ title: `User · ${params.projectName} · Towpath` }] }),
  component: UserRoute,
  pendingComponent: () => <PagePending title="User" cards={[2, 8]} />,
  notFoundComponent: () => <PageNotFound reason="No such user: nobody with this id has called this server lately." />,
});

function UserRoute() {
  const { userId, ...projectKey } = Route.useParams();
  const { timeRange } = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: TimeRange) => void navigate({ search: { timeRange: next }, resetScroll: false });
  return <UserPage projectKey={projectKey} userId={userId} timeRange={timeRange} onTimeRange={change} />;
}
