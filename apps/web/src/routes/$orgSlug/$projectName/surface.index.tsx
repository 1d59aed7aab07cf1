import { createFileRoute, stripSearchParams } from "@tanstack/react-router";
import { surfaceQuery } from "~/features/inspector/surface/surface.functions.ts";
import { SurfacePage } from "~/features/inspector/surface/surface-page.tsx";
import { type SurfaceSearch, surfaceSearchParameters } from "~/features/inspector/surface/surface-search.ts";
import { defaultActivitySearch } from "~/features/project/analytics/activity-search.ts";
import { openDefaultView } from "~/features/shared/saved-views/default-view.ts";
import { PagePending } from "~/ui/page-pending.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/surface/")({
  validateSearch: surfaceSearchParameters,
  search: { middlewares: [stripSearchParams(defaultActivitySearch)] },
  beforeLoad: (opening) => openDefaultView(opening, "surface", surfaceSearchParameters),
  loaderDeps: ({ search: { timeRange, against } }) => ({ timeRange, against }),
  loader: ({ context, params, deps: { timeRange, against } }) =>
    context.queryClient.ensureQueryData(surfaceQuery(params, timeRange, against)),
  head: ({ params }) => ({ meta: [{ title: `Surface · ${params.projectName} · Towpath` }] }),
  component: SurfaceRoute,
  pendingComponent: () => <PagePending title="Surface" cards={[8]} />,
});

function SurfaceRoute() {
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: Partial<SurfaceSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), resetScroll: false });
  return <SurfacePage projectKey={Route.useParams()} search={search} onSearch={change} />;
}
