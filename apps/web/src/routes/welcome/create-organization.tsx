import { createFileRoute } from "@tanstack/react-router";
import { AppShell } from "~/features/app-shell/app-shell.tsx";
import { PageError } from "~/features/error-screens/error-screens.tsx";
import { CreateOrganizationPage } from "~/features/onboarding/create-organization-page.tsx";
import { activeOrganization } from "~/features/session/destinations.ts";
import { requireProfile } from "~/features/session/guards.ts";

/** ONB-1 */
export const Route = createFileRoute("/welcome/create-organization")({
  beforeLoad: (call) => requireProfile(call),
  head: () => ({ meta: [{ title: "Create organization · Towpath" }] }),
  component: CreateOrganization,
  errorComponent: PageError,
});

function CreateOrganization() {
  const { profile, auth } = Route.useRouteContext();
  return (
    <AppShell
      person={{
        displayName: profile.displayName,
        email: profile.email,
        keysHref: null,
        instanceHref: null,
        preferencesHref: null,
      }}
      organizations={profile.organizations}
      active={activeOrganization(profile.organizations, auth.organizationId)}
    >
      <CreateOrganizationPage firstName={profile.firstName} />
    </AppShell>
  );
}
