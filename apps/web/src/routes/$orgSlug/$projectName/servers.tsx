import { createFileRoute } from "@tanstack/react-router";
import { PortalServersPage } from "~/features/project/portals/portal-servers-page.tsx";
import { portalQuery } from "~/features/project/portals/portals.functions.ts";

/** ORG-3 */
export const Route = createFileRoute("/$orgSlug/$projectName/servers")({
  loader: ({ context, params }) => context.queryClient.ensureQueryData(portalQuery(params)),
  head: ({ params }) => ({ meta: [{ title: `Servers and tools · ${params.projectName} · Towpath` }] }),
  component: PortalServers,
});

function PortalServers() {
  const { organization } = Route.useRouteContext();
  const mayChange = organization.permissions.includes("project.update");
  return <PortalServersPage projectKey={Route.useParams()} mayChange={mayChange} />;
}
