import { createFileRoute, Outlet } from "@tanstack/react-router";
import { AppShell } from "~/features/app-shell/app-shell.tsx";
import { OrganizationLinks } from "~/features/app-shell/organization-links.tsx";
import { PageError } from "~/features/error-screens/page-error.tsx";
import { requireOrganization } from "~/features/session/guards.ts";

export const Route = createFileRoute("/$orgSlug")({
  beforeLoad: (call) => requireOrganization(call),
  component: OrganizationLayout,
  errorComponent: PageError,
});

function OrganizationLayout() {
  const { profile, organization } = Route.useRouteContext();
  const { displayName, email, organizations } = profile;
  const mayManage = organization.permissions.includes("organization.manage");
  const instanceHref = mayManage ? `/${organization.slug}/settings/instance` : null;
  const keysHref = `/${organization.slug}/settings/api-keys`;
  return (
    <AppShell
      person={{ displayName, email, keysHref, instanceHref }}
      organizations={organizations}
      active={organization}
      bar={<OrganizationLinks orgSlug={organization.slug} mayManage={mayManage} />}
    >
      <Outlet />
    </AppShell>
  );
}
