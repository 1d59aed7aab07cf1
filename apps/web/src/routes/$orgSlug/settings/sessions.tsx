import { createFileRoute } from "@tanstack/react-router";
import { sessionsQuery } from "~/features/account/account/account.functions.ts";
import { AccountPending } from "~/features/account/account/account-pending.tsx";
import { SessionsPage } from "~/features/account/account/sessions-page.tsx";

/** ORG-4, ORG-7 */
export const Route = createFileRoute("/$orgSlug/settings/sessions")({
  // Always fetch: sessions begin and end elsewhere.
  loader: ({ context }) => context.queryClient.fetchQuery({ ...sessionsQuery, staleTime: 0 }),
  head: () => ({ meta: [{ title: "Sessions · Towpath" }] }),
  component: SessionsPage,
  pendingComponent: AccountPending,
});
