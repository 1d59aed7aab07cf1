import { createFileRoute } from "@tanstack/react-router";
import { AppShell } from "~/features/app-shell/app-shell.tsx";
import { CreateOrganizationPage } from "~/features/onboarding/create-organization-page.tsx";
import { activeOrganization } from "~/features/session/destinations.ts";
import { requireProfile } from "~/features/session/guards.ts";
import { organizationQuery } from "~/features/session/session.functions.ts";

/** ONB-1 */
export const Route = createFileRoute("/welcome/create-organization")({
  beforeLoad: (call) => requireProfile(call),
  loader: async ({ context: { queryClient, profile, auth } }) => {
    const active = activeOrganization(profile.organizations, auth.organizationId);
    return { organization: active && (await queryClient.fetchQuery(organizationQuery(active.slug))) };
  },
  head: () => ({ meta: [{ title: "Create organization · Towpath" }] }),
  component: CreateOrganization,
});

function CreateOrganization() {
  const { profile } = Route.useRouteContext();
  const { organization } = Route.useLoaderData();
  return (
    <AppShell profile={profile} organization={organization} hasSidebar={false}>
      <CreateOrganizationPage firstName={profile.firstName} />
    </AppShell>
  );
}
