import { createFileRoute, redirect, stripSearchParams } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { itemsQuery } from "~/features/inspector/items/items.functions.ts";
import { ItemsPage } from "~/features/inspector/items/items-page.tsx";
import { activitySearchParameters, defaultActivitySearch } from "~/features/project/analytics/activity-search.ts";
import { ActivityPending } from "~/features/project/analytics/activity-states.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/resource-templates/{-$templateName}")({
  validateSearch: activitySearchParameters,
  search: { middlewares: [stripSearchParams(defaultActivitySearch)] },
  loaderDeps: ({ search: deps }) => deps,
  loader: async ({ context, params, deps }) => {
    const { data } = await context.queryClient.ensureQueryData(itemsQuery(params, "template", deps.timeRange));
    const [first] = data;
    if (params.templateName !== undefined || !first) return;
    throw redirect({ to: Route.to, params: { ...params, templateName: first.name }, search: deps, replace: true });
  },
  head: ({ params }) => ({ meta: [{ title: `Resource templates · ${params.projectName} · Towpath` }] }),
  component: TemplatesRoute,
  pendingComponent: () => <ActivityPending title="Resource templates" />,
});

function TemplatesRoute() {
  const { templateName, ...projectKey } = Route.useParams();
  const { timeRange } = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: TimeRange) => void navigate({ search: { timeRange: next }, resetScroll: false });
  return (
    <ItemsPage
      kind="template"
      projectKey={projectKey}
      name={templateName}
      timeRange={timeRange}
      onTimeRange={change}
      linkTo={(name) => ({
        to: Route.to,
        params: { ...projectKey, templateName: name },
        search: { timeRange },
      })}
    />
  );
}
