import { createFileRoute } from "@tanstack/react-router";
import { AccountPending } from "~/features/account/account/account-pending.tsx";
import { callerServersQuery } from "~/features/account/caller-values/caller-values.functions.ts";
import { CallerValuesPage } from "~/features/account/caller-values/caller-values-page.tsx";

/** CAP-1 */
export const Route = createFileRoute("/$orgSlug/settings/my-values")({
  loader: ({ context }) => context.queryClient.fetchQuery(callerServersQuery),
  head: () => ({ meta: [{ title: "My values · Towpath" }] }),
  component: CallerValuesPage,
  pendingComponent: AccountPending,
});
