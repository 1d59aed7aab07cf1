import { createFileRoute } from "@tanstack/react-router";
import { AccountPage } from "~/features/account/account-page.tsx";
import { AppShell } from "~/features/app-shell/app-shell.tsx";
import { OrganizationLinks } from "~/features/app-shell/organization-links.tsx";
import { PageError } from "~/features/error-screens/page-error.tsx";
import { activeOrganization } from "~/features/session/destinations.ts";
import { requireProfile } from "~/features/session/guards.ts";
import { organizationQuery } from "~/features/session/session.queries.ts";

/** ORG-8 */
export const Route = createFileRoute("/account")({
  beforeLoad: (call) => requireProfile(call),
  loader: async ({ context }) => {
    const active = activeOrganization(context.profile.organizations, context.auth.organizationId);
    return active && context.queryClient.ensureQueryData(organizationQuery(active.slug));
  },
  head: () => ({ meta: [{ title: "Account · Towpath" }] }),
  component: Account,
  errorComponent: PageError,
});

function Account() {
  const { profile } = Route.useRouteContext();
  const organization = Route.useLoaderData();
  const mayManage = organization?.permissions.includes("organization.manage") ?? false;
  const instanceHref = organization && mayManage ? `/${organization.slug}/settings/instance` : null;
  const keysHref = organization ? `/${organization.slug}/settings/api-keys` : null;
  return (
    <AppShell
      person={{ displayName: profile.displayName, email: profile.email, keysHref, instanceHref }}
      organizations={profile.organizations}
      active={organization}
      bar={organization ? <OrganizationLinks orgSlug={organization.slug} mayManage={mayManage} /> : null}
    >
      <AccountPage profile={profile} organization={organization} />
    </AppShell>
  );
}
