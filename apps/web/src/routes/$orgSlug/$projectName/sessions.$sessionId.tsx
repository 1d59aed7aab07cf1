import { createFileRoute } from "@tanstack/react-router";
import { sessionUsageQuery } from "~/features/project/analytics/analytics.functions.ts";
import { SessionPage } from "~/features/project/analytics/session-detail-page.tsx";
import { PageNotFound } from "~/features/shared/error-screens/page-error.tsx";
import { orNotFound } from "~/features/shared/project-screen/or-not-found.ts";
import { PagePending } from "~/ui/page-pending.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/sessions/$sessionId")({
  loader: async ({ context, params }) => {
    const { queryClient } = context;
    const loading = queryClient.ensureQueryData(sessionUsageQuery(params, params.sessionId));
    await orNotFound(queryClient, params, loading);
  },
  head: ({ params }) => ({ meta: [{ title: `Session · ${params.projectName} · Towpath` }] }),
  component: SessionRoute,
  pendingComponent: () => <PagePending title="Session" cards={[2, 8]} />,
  notFoundComponent: () => (
    <PageNotFound reason="No such session: it has expired with the log, or the link is incomplete." />
  ),
});

function SessionRoute() {
  const { sessionId, ...projectKey } = Route.useParams();
  return <SessionPage projectKey={projectKey} sessionId={sessionId} />;
}
