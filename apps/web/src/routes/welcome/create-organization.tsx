import { createFileRoute } from "@tanstack/react-router";
import { proposeOrganization } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { CreateOrganizationPage } from "~/features/onboarding/welcome/create-organization-page.tsx";
import { activeOrganization } from "~/features/shared/session/destinations.ts";
import { requireProfile } from "~/features/shared/session/guards.ts";
import { organizationQuery } from "~/features/shared/session/session.functions.ts";
import { AppShell } from "~/features/shell/app-shell/app-shell.tsx";

/** ONB-1 */
export const Route = createFileRoute("/welcome/create-organization")({
  beforeLoad: (call) => requireProfile(call),
  loader: async ({ context: { queryClient, profile, auth } }) => {
    const active = activeOrganization(profile.organizations, auth.organizationId);
    return {
      organization: active && (await queryClient.fetchQuery(organizationQuery(active.slug))),
      // Only the first organization is proposed, by the person's name. Without a proposal the field is empty.
      proposal: active ? null : await proposeOrganization().catch(() => null),
    };
  },
  head: () => ({ meta: [{ title: "Create organization · Towpath" }] }),
  component: CreateOrganization,
});

function CreateOrganization() {
  const { profile } = Route.useRouteContext();
  const { organization, proposal } = Route.useLoaderData();
  return (
    <AppShell profile={profile} organization={organization} hasSidebar={false}>
      <CreateOrganizationPage firstName={profile.firstName} proposal={proposal} />
    </AppShell>
  );
}
