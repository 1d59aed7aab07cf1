import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Outlet } from "@tanstack/react-router";
import { requireOrganization } from "~/features/shared/session/guards.ts";
import { watchAccess } from "~/features/shared/session/lost-access.ts";
import { organizationQuery } from "~/features/shared/session/session.functions.ts";
import { AppShell } from "~/features/shell/app-shell/app-shell.tsx";
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
