import { createFileRoute } from "@tanstack/react-router";
import { signInMethodsQuery } from "~/features/account/account/account.functions.ts";
import { AccountPending } from "~/features/account/account/account-pending.tsx";
import { SecurityPage } from "~/features/account/account/security-page.tsx";
import { grantsQuery } from "~/features/account/oauth/oauth.functions.ts";

/** ORG-4, ORG-7 */
export const Route = createFileRoute("/$orgSlug/settings/security")({
  loader: ({ context }) =>
    Promise.all([
      context.queryClient.ensureQueryData(signInMethodsQuery),
      context.queryClient.prefetchQuery(grantsQuery),
    ]),
  head: () => ({ meta: [{ title: "Security · Towpath" }] }),
  component: Security,
  pendingComponent: AccountPending,
});

function Security() {
  const { profile } = Route.useRouteContext();
  return <SecurityPage orgSlug={Route.useParams().orgSlug} email={profile.email} />;
}
