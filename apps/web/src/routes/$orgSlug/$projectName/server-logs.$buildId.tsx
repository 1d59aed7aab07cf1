import { createFileRoute } from "@tanstack/react-router";
import { BuildNotFound } from "~/features/project/build/build-not-found.tsx";
import { loadBuild } from "~/features/project/delivery/build.functions.ts";
import { ServerLogPage } from "~/features/project/server-log/server-log-page.tsx";
import { positiveInteger, searchParameters } from "~/http/search-parameters.ts";

export const Route = createFileRoute("/$orgSlug/$projectName/server-logs/$buildId")({
  // The line to show, which may be far from the newest.
  validateSearch: searchParameters({ at: positiveInteger }),
  loader: async ({ context, params }) => {
    await loadBuild(context.queryClient, params, params.buildId);
  },
  head: ({ params }) => ({ meta: [{ title: `Server log · ${params.projectName} · Towpath` }] }),
  component: ServerLogRoute,
  notFoundComponent: BuildNotFound,
});

function ServerLogRoute() {
  const { buildId, ...projectKey } = Route.useParams();
  const { at } = Route.useSearch();
  return <ServerLogPage key={buildId} projectKey={projectKey} buildId={buildId} at={at} />;
}
