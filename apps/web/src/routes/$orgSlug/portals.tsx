import { createFileRoute } from "@tanstack/react-router";
import { serversActivityQuery, serversShown } from "~/features/organization/servers/servers.functions.ts";
import { portalsQuery } from "~/features/project/portals/portals.functions.ts";
import { PortalsPage } from "~/features/project/portals/portals-page.tsx";

/** ORG-3 */
export const Route = createFileRoute("/$orgSlug/portals")({
  loader: async ({ context: { queryClient }, params: { orgSlug } }) => {
    const portals = await queryClient.ensureQueryData(portalsQuery(orgSlug));
    const ids = portals.slice(0, serversShown).map(({ id }) => id);
    // Fails quietly: the list is useful without it.
    if (ids.length > 0) await queryClient.prefetchQuery(serversActivityQuery(orgSlug, ids));
  },
  head: () => ({ meta: [{ title: "Portals · Towpath" }] }),
  component: Portals,
});

function Portals() {
  return <PortalsPage orgSlug={Route.useParams().orgSlug} />;
}
