import { createFileRoute, redirect, stripSearchParams } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { itemsQuery } from "~/features/inspector/items/items.functions.ts";
import { ItemsPage } from "~/features/inspector/items/items-page.tsx";
import { activitySearchParameters, defaultActivitySearch } from "~/features/project/analytics/activity-search.ts";
import { ActivityPending } from "~/features/project/analytics/activity-states.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/tools/{-$toolName}")({
  validateSearch: activitySearchParameters,
  search: { middlewares: [stripSearchParams(defaultActivitySearch)] },
  loaderDeps: ({ search: deps }) => deps,
  loader: async ({ context, params, deps }) => {
    const { data } = await context.queryClient.ensureQueryData(itemsQuery(params, "tool", deps.timeRange));
    const [first] = data;
    if (params.toolName !== undefined || !first) return;
    throw redirect({ to: Route.to, params: { ...params, toolName: first.name }, search: deps, replace: true });
  },
  head: ({ params }) => ({ meta: [{ title: `Tools · ${params.projectName} · Towpath` }] }),
  component: ToolsRoute,
  pendingComponent: () => <ActivityPending title="Tools" />,
});

function ToolsRoute() {
  const { toolName, ...projectKey } = Route.useParams();
  const { timeRange } = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: TimeRange) => void navigate({ search: { timeRange: next }, resetScroll: false });
  return (
    <ItemsPage
      kind="tool"
      projectKey={projectKey}
      name={toolName}
      timeRange={timeRange}
      onTimeRange={change}
      linkTo={(name) => ({
        to: Route.to,
        params: { ...projectKey, toolName: name },
        search: { timeRange },
      })}
    />
  );
}
