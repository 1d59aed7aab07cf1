import { createFileRoute } from "@tanstack/react-router";
import { GeneralPage } from "~/features/organization/organization-settings/general-page.tsx";

/** ORG-4 */
export const Route = createFileRoute("/$orgSlug/settings/general")({
  head: () => ({ meta: [{ title: "General · Towpath" }] }),
  component: General,
});

function General() {
  const { organization, profile } = Route.useRouteContext();
  const picture = profile.organizations.find(({ id }) => id === organization.id)?.pictureUrl ?? null;
  const mayDelete = organization.permissions.includes("organization.delete");
  return <GeneralPage organization={organization} picture={picture} mayDelete={mayDelete} />;
}
