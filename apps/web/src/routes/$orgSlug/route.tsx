import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Outlet } from "@tanstack/react-router";
import { AppShell } from "~/features/app-shell/app-shell.tsx";
import { watchAccess } from "~/features/error-screens/lost-access.ts";
import { requireOrganization } from "~/features/session/guards.ts";
import { organizationQuery } from "~/features/session/session.functions.ts";
import { TimePreferencesProvider } from "~/ui/time.tsx";

export const Route = createFileRoute("/$orgSlug")({
  // The type is named, because that of `call.matches` depends on it.
  beforeLoad: (call): ReturnType<typeof requireOrganization> => requireOrganization(call),
  component: OrganizationLayout,
});

function OrganizationLayout() {
  const { profile, organization } = Route.useRouteContext();
  useQuery({ ...organizationQuery(organization.slug), ...watchAccess });
  return (
    <TimePreferencesProvider value={profile.preferences}>
      <AppShell profile={profile} organization={organization}>
        <Outlet />
      </AppShell>
    </TimePreferencesProvider>
  );
}
