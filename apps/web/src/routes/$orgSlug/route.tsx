import { createFileRoute, Outlet } from "@tanstack/react-router";
import { AppShell } from "~/features/app-shell/app-shell.tsx";
import { OrganizationLinks, settingsHrefs } from "~/features/app-shell/organization-links.tsx";
import { PageError } from "~/features/error-screens/error-screens.tsx";
import { requireOrganization } from "~/features/session/guards.ts";

export const Route = createFileRoute("/$orgSlug")({
  beforeLoad: (call) => requireOrganization(call),
  component: OrganizationLayout,
  errorComponent: PageError,
});

function OrganizationLayout() {
  const { profile, organization } = Route.useRouteContext();
  const { displayName, email, organizations } = profile;
  return (
    <AppShell
      person={{ displayName, email, ...settingsHrefs(organization) }}
      organizations={organizations}
      active={organization}
      bar={<OrganizationLinks organization={organization} />}
    >
      <Outlet />
    </AppShell>
  );
}
