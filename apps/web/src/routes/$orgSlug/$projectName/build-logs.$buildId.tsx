import { createFileRoute } from "@tanstack/react-router";
import { BuildNotFound } from "~/features/project/build/build-not-found.tsx";
import { BuildPage } from "~/features/project/build/build-page.tsx";
import { loadBuild } from "~/features/project/delivery/build.functions.ts";
import { lazyPart } from "~/ui/lazy-part.tsx";

/** Its code comes with a preview that went live only. */
const ReplayedCalls = lazyPart(() =>
  import("~/features/inspector/replay/replayed-calls.tsx").then((file) => file.ReplayedCalls),
);

export const Route = createFileRoute("/$orgSlug/$projectName/build-logs/$buildId")({
  loader: async ({ context, params }) => {
    await loadBuild(context.queryClient, params, params.buildId);
  },
  head: ({ params }) => ({ meta: [{ title: `Build log · ${params.projectName} · Towpath` }] }),
  component: BuildLogRoute,
  notFoundComponent: BuildNotFound,
});

function BuildLogRoute() {
  const { buildId, ...projectKey } = Route.useParams();
  // The key resets all state when the route changes to another build.
  return (
    <BuildPage
      key={buildId}
      projectKey={projectKey}
      buildId={buildId}
      ofPreview={(branch) => <ReplayedCalls projectKey={projectKey} buildId={buildId} branch={branch} />}
    />
  );
}
