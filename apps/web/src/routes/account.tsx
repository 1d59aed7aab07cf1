import { createFileRoute } from "@tanstack/react-router";
import { AccountPage } from "~/features/account/account/account-page.tsx";
import { activeOrganization } from "~/features/shared/session/destinations.ts";
import { requireProfile } from "~/features/shared/session/guards.ts";
import { organizationQuery, roleAndPermissionsQuery } from "~/features/shared/session/session.functions.ts";
import { AppShell } from "~/features/shell/app-shell/app-shell.tsx";

/** ORG-8 */
export const Route = createFileRoute("/account")({
  beforeLoad: (call) => requireProfile(call),
  loader: async ({ context }) => {
    const active = activeOrganization(context.profile.organizations, context.auth.organizationId);
    const [organization, access] = await Promise.all([
      active && context.queryClient.fetchQuery(organizationQuery(active.slug)),
      context.queryClient.fetchQuery(roleAndPermissionsQuery),
    ]);
    return { organization, access };
  },
  head: () => ({ meta: [{ title: "Account · Towpath" }] }),
  component: Account,
});

function Account() {
  const { profile } = Route.useRouteContext();
  const { organization, access } = Route.useLoaderData();
  return (
    <AppShell profile={profile} organization={organization}>
      <AccountPage profile={profile} organization={organization} access={access} />
    </AppShell>
  );
}
