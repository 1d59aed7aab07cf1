import { createFileRoute, notFound, stripSearchParams } from "@tanstack/react-router";
import type { TimeRange } from "@towpath/logs/schema";
import { surfaceQuery } from "~/features/inspector/surface/surface.functions.ts";
import { SurfaceItemPage } from "~/features/inspector/surface/surface-item-page.tsx";
import { itemKinds } from "~/features/inspector/surface/surface-search.ts";
import { activitySearchParameters, defaultActivitySearch } from "~/features/project/analytics/activity-search.ts";
import { PagePending } from "~/ui/page-pending.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/surface/$itemKind/$itemName")({
  validateSearch: activitySearchParameters,
  search: { middlewares: [stripSearchParams(defaultActivitySearch)] },
  loaderDeps: ({ search: deps }) => deps,
  loader: async ({ context, params: { itemKind, itemName: _name, ...key }, deps }) => {
    if (kindOf(itemKind) === undefined) throw notFound();
    await context.queryClient.ensureQueryData(surfaceQuery(key, deps.timeRange));
  },
  head: ({ params }) => ({ meta: [{ title: `${params.itemName} · ${params.projectName} · Towpath` }] }),
  component: SurfaceItemRoute,
  pendingComponent: () => <PagePending title="Surface" cards={[2, 8]} />,
});

const kindOf = (text: string) => itemKinds.find((kind) => kind === text);

function SurfaceItemRoute() {
  const { itemKind: kind, itemName: name, ...projectKey } = Route.useParams();
  const { timeRange } = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: TimeRange) => void navigate({ search: { timeRange: next }, resetScroll: false });
  return (
    <SurfaceItemPage
      key={`${kind} ${name}`}
      projectKey={projectKey}
      kind={kindOf(kind) ?? "tool"}
      name={name}
      timeRange={timeRange}
      onTimeRange={change}
    />
  );
}
