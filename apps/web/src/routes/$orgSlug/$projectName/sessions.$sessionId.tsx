import { createFileRoute, notFound } from "@tanstack/react-router";
import { TowpathError } from "@towpath/core/errors";
import { ActivityError, ActivityNotFound, ActivityPending } from "~/features/analytics/activity-states.tsx";
import { sessionUsageQuery } from "~/features/analytics/analytics.functions.ts";
import { SessionPage } from "~/features/analytics/session-detail-page.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/sessions/$sessionId")({
  loader: async ({ context, params }) => {
    try {
      await context.queryClient.ensureQueryData(sessionUsageQuery(params, params.sessionId));
    } catch (error) {
      if (error instanceof TowpathError && error.code === "not_found") throw notFound();
      throw error;
    }
  },
  head: ({ params }) => ({ meta: [{ title: `Session · ${params.projectName} · Towpath` }] }),
  component: SessionRoute,
  pendingComponent: () => <ActivityPending title="Session" />,
  errorComponent: ({ error, reset }) => <ActivityError title="Session" error={error} reset={reset} />,
  notFoundComponent: () => (
    <ActivityNotFound title="No such session">It has expired with the log, or the link is incomplete.</ActivityNotFound>
  ),
});

function SessionRoute() {
  const { sessionId, ...projectKey } = Route.useParams();
  return <SessionPage projectKey={projectKey} sessionId={sessionId} />;
}
