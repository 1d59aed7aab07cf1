import { createFileRoute } from "@tanstack/react-router";
import { PageError } from "~/features/error-screens/page-error.tsx";
import { proposeServerName } from "~/features/onboarding/onboarding.functions.ts";
import { NewPortalPage } from "~/features/portals/new-portal-page.tsx";

/** ORG-3 */
export const Route = createFileRoute("/$orgSlug/portals_/new")({
  loader: ({ params }) => proposeServerName({ data: params }),
  staleTime: Number.POSITIVE_INFINITY,
  head: () => ({ meta: [{ title: "New portal · Towpath" }] }),
  component: NewPortal,
  errorComponent: PageError,
});

function NewPortal() {
  const { orgSlug } = Route.useParams();
  return <NewPortalPage orgSlug={orgSlug} proposal={Route.useLoaderData()} />;
}
