import { createFileRoute, stripSearchParams } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { activitySearchParameters, defaultActivitySearch } from "~/features/project/analytics/activity-search.ts";
import { userActivityQuery, usersQuery } from "~/features/project/analytics/analytics.functions.ts";
import { UsersPage } from "~/features/project/analytics/users-page.tsx";
import { openDefaultView } from "~/features/shared/saved-views/default-view.ts";
import { PagePending } from "~/ui/page-pending.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/users/")({
  validateSearch: activitySearchParameters,
  search: { middlewares: [stripSearchParams(defaultActivitySearch)] },
  beforeLoad: (opening) => openDefaultView(opening, "users", activitySearchParameters),
  loaderDeps: ({ search: { timeRange } }) => ({ timeRange }),
  loader: async ({ context, params, deps }) => {
    await Promise.all([
      context.queryClient.ensureInfiniteQueryData(usersQuery(params, deps.timeRange)),
      context.queryClient.prefetchQuery(userActivityQuery(params, deps.timeRange)),
    ]);
  },
  head: ({ params }) => ({ meta: [{ title: `Users · ${params.projectName} · Towpath` }] }),
  component: UsersRoute,
  pendingComponent: () => <PagePending title="Users" cards={[2, 8]} />,
});

function UsersRoute() {
  const { timeRange } = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: TimeRange) =>
    void navigate({ search: (before) => ({ ...before, timeRange: next }), resetScroll: false });
  return <UsersPage projectKey={Route.useParams()} timeRange={timeRange} onTimeRange={change} />;
}
