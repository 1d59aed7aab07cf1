import { createFileRoute, stripSearchParams } from "@tanstack/react-router";
import { BuildNotFound } from "~/features/project/build/build-not-found.tsx";
import { loadBuild } from "~/features/project/delivery/build.functions.ts";
import { ServerLogPage } from "~/features/project/server-log/server-log-page.tsx";
import {
  defaultServerLogSearch,
  type ServerLogLevel,
  serverLogSearchParameters,
} from "~/features/project/server-log/server-log-search.ts";
import { openDefaultView } from "~/features/shared/saved-views/default-view.ts";

export const Route = createFileRoute("/$orgSlug/$projectName/server-logs/$buildId")({
  validateSearch: serverLogSearchParameters,
  search: { middlewares: [stripSearchParams(defaultServerLogSearch)] },
  beforeLoad: (opening) => openDefaultView(opening, "output", serverLogSearchParameters),
  loader: async ({ context, params }) => {
    await loadBuild(context.queryClient, params, params.buildId);
  },
  head: ({ params }) => ({ meta: [{ title: `Server log · ${params.projectName} · Towpath` }] }),
  component: ServerLogRoute,
  notFoundComponent: BuildNotFound,
});

function ServerLogRoute() {
  const { buildId, ...projectKey } = Route.useParams();
  const { at, level } = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: ServerLogLevel) =>
    void navigate({ search: (before) => ({ ...before, level: next }), replace: true, resetScroll: false });
  return (
    <ServerLogPage key={buildId} projectKey={projectKey} buildId={buildId} at={at} level={level} onLevel={change} />
  );
}
