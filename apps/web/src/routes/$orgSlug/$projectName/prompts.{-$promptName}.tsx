import { createFileRoute, redirect, stripSearchParams } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { itemsQuery } from "~/features/inspector/items/items.functions.ts";
import { ItemsPage } from "~/features/inspector/items/items-page.tsx";
import { activitySearchParameters, defaultActivitySearch } from "~/features/project/analytics/activity-search.ts";
import { ActivityPending } from "~/features/project/analytics/activity-states.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/prompts/{-$promptName}")({
  validateSearch: activitySearchParameters,
  search: { middlewares: [stripSearchParams(defaultActivitySearch)] },
  loaderDeps: ({ search: deps }) => deps,
  loader: async ({ context, params, deps }) => {
    const { data } = await context.queryClient.ensureQueryData(itemsQuery(params, "prompt", deps.timeRange));
    const [first] = data;
    if (params.promptName !== undefined || !first) return;
    throw redirect({ to: Route.to, params: { ...params, promptName: first.name }, search: deps, replace: true });
  },
  head: ({ params }) => ({ meta: [{ title: `Prompts · ${params.projectName} · Towpath` }] }),
  component: PromptsRoute,
  pendingComponent: () => <ActivityPending title="Prompts" />,
});

function PromptsRoute() {
  const { promptName, ...projectKey } = Route.useParams();
  const { timeRange } = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: TimeRange) => void navigate({ search: { timeRange: next }, resetScroll: false });
  return (
    <ItemsPage
      kind="prompt"
      projectKey={projectKey}
      name={promptName}
      timeRange={timeRange}
      onTimeRange={change}
      linkTo={(name) => ({
        to: Route.to,
        params: { ...projectKey, promptName: name },
        search: { timeRange },
      })}
    />
  );
}
