import { createFileRoute } from "@tanstack/react-router";
import { AddServerPage } from "~/features/onboarding/external-server/add-server-page.tsx";
import { proposeServerName } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { searchParameters, text } from "~/http/search-parameters.ts";

/** ORG-9 */
export const Route = createFileRoute("/$orgSlug/servers_/external")({
  validateSearch: searchParameters({ url: text(2000) }),
  loader: ({ params }) => proposeServerName({ data: params }),
  staleTime: Number.POSITIVE_INFINITY,
  head: () => ({ meta: [{ title: "Add an external server · Towpath" }] }),
  component: AddServer,
});

function AddServer() {
  const { orgSlug } = Route.useParams();
  const { url = "" } = Route.useSearch();
  return <AddServerPage orgSlug={orgSlug} proposal={Route.useLoaderData()} initialUrl={url} />;
}
