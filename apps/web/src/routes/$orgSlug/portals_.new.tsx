import { createFileRoute } from "@tanstack/react-router";
import { proposeServerName } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { NewPortalPage } from "~/features/project/portals/new-portal-page.tsx";

/** ORG-3 */
export const Route = createFileRoute("/$orgSlug/portals_/new")({
  loader: ({ params }) => proposeServerName({ data: params }),
  staleTime: Number.POSITIVE_INFINITY,
  head: () => ({ meta: [{ title: "New portal · Towpath" }] }),
  component: NewPortal,
});

function NewPortal() {
  const { orgSlug } = Route.useParams();
  return <NewPortalPage orgSlug={orgSlug} proposal={Route.useLoaderData()} />;
}
