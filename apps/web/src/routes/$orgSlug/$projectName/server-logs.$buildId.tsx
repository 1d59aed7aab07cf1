import { createFileRoute } from "@tanstack/react-router";
import { loadBuild } from "~/features/build/build.functions.ts";
import { BuildNotFound } from "~/features/build/build-header.tsx";
import { ServerLogPage } from "~/features/server-log/server-log-page.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/server-logs/$buildId")({
  loader: async ({ context, params }) => {
    await loadBuild(context.queryClient, params, params.buildId);
  },
  head: ({ match, params }) => ({
    meta: [
      {
        title:
          match.status === "notFound" ? "Page Not Found · Towpath" : `Server log · ${params.projectName} · Towpath`,
      },
    ],
  }),
  component: ServerLogRoute,
  notFoundComponent: BuildNotFound,
});

function ServerLogRoute() {
  const { buildId, ...projectKey } = Route.useParams();
  return <ServerLogPage key={buildId} projectKey={projectKey} buildId={buildId} />;
}
