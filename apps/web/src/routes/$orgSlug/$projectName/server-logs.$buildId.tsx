import { createFileRoute } from "@tanstack/react-router";
import { loadBuild } from "~/features/build/build.functions.ts";
import { BuildNotFound } from "~/features/build/build-not-found.tsx";
import { ServerLogPage } from "~/features/server-log/server-log-page.tsx";
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
