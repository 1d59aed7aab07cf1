import { useQuery } from "@tanstack/react-query";
import type { AccountActivity } from "@towpath/core/tenancy/account";
import type { AccountAction } from "@towpath/core/tenancy/account/schema";
import { Card, CardHeader } from "~/ui/card.tsx";
import { type Column, DataTable, leadColumn, timeColumn } from "~/ui/data-table.tsx";
import { LoadFailure } from "~/ui/load-failure.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { activityQuery } from "./account.functions.ts";

type OtherAction = "user.connect-github" | "organization.delete";

const texts: Readonly<Record<AccountAction | OtherAction, string>> = {
  "account.update": "Name changed",
  "account.password_change": "Password changed",
  "account.reset_requested": "Password reset requested",
  "account.password_reset": "Password set by a reset link",
  "account.two_factor_on": "Two-factor sign-in turned on",
  "account.two_factor_off": "Two-factor sign-in turned off",
  "account.recovery_codes": "Recovery codes replaced",
  "account.session_end": "Sessions ended",
  "account.email_requested": "Email change requested",
  "account.email_canceled": "Email change canceled",
  "account.email_change": "Email changed",
  "account.picture": "Picture changed",
  "account.preferences": "Preferences changed",
  "user.connect-github": "GitHub account connected",
  "organization.delete": "Organization deleted",
};

/** An action of a later version is named as it is stored. */
export const activityText = (action: string): string => texts[action as AccountAction] ?? action;

/** The latest changes of the user's own account: what, when and from where (ORG-7, ORG-10). */
export function ActivityCard() {
  const { data: entries, error, refetch } = useQuery(activityQuery);
  return (
    <Card className="overflow-hidden">
      <CardHeader
        title="Recent activity"
        description="Changes to your account. If you don't recognize one, change your password and end other sessions."
      />
      {error ? (
        <LoadFailure title="Couldn't load the activity" error={error} reset={() => void refetch()}>
          Your account is not affected.
        </LoadFailure>
      ) : entries === undefined ? (
        <SkeletonRows rows={3} label="Loading activity" />
      ) : entries.length === 0 ? (
        <p className="px-4 pb-4 text-sm text-muted">Nothing has changed yet.</p>
      ) : (
        <ActivityTable entries={entries} />
      )}
    </Card>
  );
}

const columns: readonly Column<AccountActivity>[] = [
  leadColumn("Change", ({ action }) => activityText(action), {
    cell: ({ action, byOperator }) => (
      <>
        {activityText(action)}
        {byOperator ? <span className="text-muted"> by the operator</span> : null}
      </>
    ),
  }),
  {
    name: "Address",
    by: ({ ipAddress }) => ipAddress,
    className: "text-muted",
    cell: ({ ipAddress }) => <span className="font-mono text-xs break-all">{ipAddress ?? "Unknown"}</span>,
  },
  timeColumn("When", ({ at }) => at),
];

const ActivityTable = ({ entries }: { readonly entries: readonly AccountActivity[] }) => (
  <DataTable label="Recent activity" rows={entries} keyOf={({ id }) => id} columns={columns} />
);
