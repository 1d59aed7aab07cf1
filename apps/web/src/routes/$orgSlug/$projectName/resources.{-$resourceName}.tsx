import { createFileRoute, redirect, stripSearchParams } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { itemsQuery } from "~/features/inspector/items/items.functions.ts";
import { ItemsPage } from "~/features/inspector/items/items-page.tsx";
import { activitySearchParameters, defaultActivitySearch } from "~/features/project/analytics/activity-search.ts";
import { ActivityPending } from "~/features/project/analytics/activity-states.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/resources/{-$resourceName}")({
  validateSearch: activitySearchParameters,
  search: { middlewares: [stripSearchParams(defaultActivitySearch)] },
  loaderDeps: ({ search: deps }) => deps,
  loader: async ({ context, params, deps }) => {
    const { data } = await context.queryClient.ensureQueryData(itemsQuery(params, "resource", deps.timeRange));
    const [first] = data;
    if (params.resourceName !== undefined || !first) return;
    throw redirect({ to: Route.to, params: { ...params, resourceName: first.name }, search: deps, replace: true });
  },
  head: ({ params }) => ({ meta: [{ title: `Resources · ${params.projectName} · Towpath` }] }),
  component: ResourcesRoute,
  pendingComponent: () => <ActivityPending title="Resources" />,
});

function ResourcesRoute() {
  const { resourceName, ...projectKey } = Route.useParams();
  const { timeRange } = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: TimeRange) => void navigate({ search: { timeRange: next }, resetScroll: false });
  return (
    <ItemsPage
      kind="resource"
      projectKey={projectKey}
      name={resourceName}
      timeRange={timeRange}
      onTimeRange={change}
      linkTo={(name) => ({
        to: Route.to,
        params: { ...projectKey, resourceName: name },
        search: { timeRange },
      })}
    />
  );
}
