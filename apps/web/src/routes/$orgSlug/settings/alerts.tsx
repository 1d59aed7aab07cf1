import { createFileRoute } from "@tanstack/react-router";
import { alertsQuery } from "~/features/organization/alerts/alerts.functions.ts";
import { AlertsPage, AlertsPending } from "~/features/organization/alerts/alerts-page.tsx";

/** CAP-6 */
export const Route = createFileRoute("/$orgSlug/settings/alerts")({
  loader: ({ context, params }) => context.queryClient.ensureQueryData(alertsQuery(params.orgSlug)),
  head: () => ({ meta: [{ title: "Alerts · Towpath" }] }),
  component: Alerts,
  pendingComponent: AlertsPending,
});

function Alerts() {
  const { orgSlug } = Route.useParams();
  return <AlertsPage orgSlug={orgSlug} />;
}
