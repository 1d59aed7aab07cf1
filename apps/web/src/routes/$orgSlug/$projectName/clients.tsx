import { createFileRoute } from "@tanstack/react-router";
import { PageError } from "~/features/error-screens/error-screens.tsx";
import { ClientsPage } from "~/features/oauth/clients-page.tsx";
import { connectedClientsQuery } from "~/features/oauth/oauth.functions.ts";

/** PRJ-8, GW-5 */
export const Route = createFileRoute("/$orgSlug/$projectName/clients")({
  loader: ({ context, params }) => context.queryClient.ensureQueryData(connectedClientsQuery(params)),
  head: ({ params }) => ({ meta: [{ title: `Clients · ${params.projectName} · Towpath` }] }),
  component: Clients,
  errorComponent: PageError,
});

function Clients() {
  return <ClientsPage projectKey={Route.useParams()} />;
}
