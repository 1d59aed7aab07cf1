import { createFileRoute } from "@tanstack/react-router";
import { ErrorDetailPage } from "~/features/project/errors/error-detail-page.tsx";
import { errorQuery } from "~/features/project/errors/errors.functions.ts";
import { explainedQuery } from "~/features/project/request-log/request-log.functions.ts";
import { PageNotFound } from "~/features/shared/error-screens/page-error.tsx";
import { orNotFound } from "~/features/shared/project-screen/or-not-found.ts";
import { PagePending } from "~/ui/page-pending.tsx";

/** CAP-6 */
export const Route = createFileRoute("/$orgSlug/$projectName/errors/$errorId")({
  loader: async ({ context: { queryClient }, params }) => {
    const { errorId, ...key } = params;
    const error = await orNotFound(queryClient, key, queryClient.ensureQueryData(errorQuery(key, errorId)));
    const [sample] = error.samples;
    // Fails quietly: its day may be gone from the log.
    if (sample) await queryClient.prefetchQuery(explainedQuery(key, sample));
    return { title: error.title };
  },
  head: ({ params, loaderData }) => ({
    meta: [{ title: `${loaderData?.title ?? "Error"} · ${params.projectName} · Towpath` }],
  }),
  component: ErrorRoute,
  pendingComponent: () => <PagePending title="Errors" cards={[8]} />,
  notFoundComponent: () => (
    <PageNotFound reason="No such error: it was not seen for as long as the log is kept, or the link is incomplete." />
  ),
});

function ErrorRoute() {
  const { errorId, ...projectKey } = Route.useParams();
  return <ErrorDetailPage projectKey={projectKey} errorId={errorId} />;
}
