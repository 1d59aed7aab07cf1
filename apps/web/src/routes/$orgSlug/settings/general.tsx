import { createFileRoute } from "@tanstack/react-router";
import { GeneralPage } from "~/features/organization/organization-settings/general-page.tsx";
import { statusPageQuery } from "~/features/organization/organization-settings/organization-settings.functions.ts";

/** ORG-4 */
export const Route = createFileRoute("/$orgSlug/settings/general")({
  loader: ({ context: { organization, queryClient }, params }) =>
    organization.permissions.includes("organization.manage")
      ? queryClient.ensureQueryData(statusPageQuery(params.orgSlug))
      : undefined,
  head: () => ({ meta: [{ title: "General · Towpath" }] }),
  component: General,
});

function General() {
  const { organization, profile } = Route.useRouteContext();
  const picture = profile.organizations.find(({ id }) => id === organization.id)?.pictureUrl ?? null;
  const mayDelete = organization.permissions.includes("organization.delete");
  return <GeneralPage organization={organization} picture={picture} mayDelete={mayDelete} />;
}
