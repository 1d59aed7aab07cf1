import { createFileRoute, notFound } from "@tanstack/react-router";
import { TowpathError } from "@towpath/core/errors";
import { connectedClientsQuery } from "~/features/account/oauth/oauth.functions.ts";
import { ClientsPage } from "~/features/project/clients/clients-page.tsx";
import { ClientsError, ClientsNotFound } from "~/features/project/clients/clients-states.tsx";
import { withOwnError } from "~/features/shared/error-screens/page-error.tsx";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { PagePending } from "~/ui/page-pending.tsx";

/** PRJ-8, PRJ-15, GW-5 */
export const Route = createFileRoute("/$orgSlug/$projectName/clients")({
  loader: async ({ context: { queryClient, organization }, params }) => {
    try {
      const { authMode } = await queryClient.ensureQueryData(projectQuery(params));
      // Viewers may not see connected clients, and other servers have none: the page leaves them out.
      const hasClients = authMode === "towpath-cloud" && organization.permissions.includes("client.read");
      if (hasClients) await queryClient.fetchQuery(connectedClientsQuery(params));
    } catch (error) {
      // The project was deleted while one of its pages was open.
      if (error instanceof TowpathError && error.code === "not_found") throw notFound();
      throw error;
    }
  },
  head: ({ params }) => ({ meta: [{ title: `Clients · ${params.projectName} · Towpath` }] }),
  component: Clients,
  pendingComponent: () => <PagePending title="Clients" cards={[8]} className="max-w-4xl" />,
  errorComponent: withOwnError(ClientsError),
  notFoundComponent: ClientsNotFound,
});

function Clients() {
  return <ClientsPage projectKey={Route.useParams()} />;
}
