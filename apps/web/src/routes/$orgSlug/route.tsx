import { createFileRoute, Outlet } from "@tanstack/react-router";
import { AppShell } from "~/features/app-shell/app-shell.tsx";
import { PageError } from "~/features/error-screens/page-error.tsx";
import { requireOrganization } from "~/features/session/guards.ts";
import { TimePreferencesProvider } from "~/ui/time.tsx";

export const Route = createFileRoute("/$orgSlug")({
  beforeLoad: (call) => requireOrganization(call),
  component: OrganizationLayout,
  errorComponent: PageError,
});

function OrganizationLayout() {
  const { profile, organization } = Route.useRouteContext();
  return (
    <TimePreferencesProvider value={profile.preferences}>
      <AppShell profile={profile} organization={organization}>
        <Outlet />
      </AppShell>
    </TimePreferencesProvider>
  );
}
