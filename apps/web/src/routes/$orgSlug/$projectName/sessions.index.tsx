import { createFileRoute, stripSearchParams } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { activitySearchParameters, defaultActivitySearch } from "~/features/project/analytics/activity-search.ts";
import { sessionActivityQuery, sessionsQuery } from "~/features/project/analytics/analytics.functions.ts";
import { SessionsPage } from "~/features/project/analytics/sessions-page.tsx";
import { openDefaultView } from "~/features/shared/saved-views/default-view.ts";
import { PagePending } from "~/ui/page-pending.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/sessions/")({
  validateSearch: activitySearchParameters,
  search: { middlewares: [stripSearchParams(defaultActivitySearch)] },
  beforeLoad: (opening) => openDefaultView(opening, "sessions", activitySearchParameters),
  loaderDeps: ({ search: { timeRange } }) => ({ timeRange }),
  loader: async ({ context, params, deps }) => {
    await Promise.all([
      context.queryClient.ensureInfiniteQueryData(sessionsQuery(params, deps.timeRange)),
      context.queryClient.prefetchQuery(sessionActivityQuery(params, deps.timeRange)),
    ]);
  },
  head: ({ params }) => ({ meta: [{ title: `Sessions · ${params.projectName} · Towpath` }] }),
  component: SessionsRoute,
  pendingComponent: () => <PagePending title="Sessions" cards={[2, 8]} />,
});

function SessionsRoute() {
  const { timeRange } = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: TimeRange) =>
    void navigate({ search: (before) => ({ ...before, timeRange: next }), resetScroll: false });
  return <SessionsPage projectKey={Route.useParams()} timeRange={timeRange} onTimeRange={change} />;
}
