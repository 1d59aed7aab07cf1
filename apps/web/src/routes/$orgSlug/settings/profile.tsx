import { createFileRoute } from "@tanstack/react-router";
import { signInMethodsQuery } from "~/features/account/account/account.functions.ts";
import { AccountPending } from "~/features/account/account/account-pending.tsx";
import { ProfilePage } from "~/features/account/account/profile-page.tsx";

/** ORG-4 */
export const Route = createFileRoute("/$orgSlug/settings/profile")({
  loader: ({ context }) => context.queryClient.ensureQueryData(signInMethodsQuery),
  head: () => ({ meta: [{ title: "Profile · Towpath" }] }),
  component: Profile,
  pendingComponent: AccountPending,
});

function Profile() {
  const { profile } = Route.useRouteContext();
  return <ProfilePage profile={profile} />;
}
