import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ApiKeyView } from "@towpath/core/tenancy/api-key";
import type { MemberView } from "@towpath/core/tenancy/member";
import { useState } from "react";
import { apiKeysQuery, apiKeysQueryKey } from "~/features/organization/api-keys/api-keys.functions.ts";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Callout, Failure } from "~/ui/callout.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { Dialog } from "~/ui/dialog.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import { invitationsQuery, membersQuery, removeMember } from "./members.functions.ts";

/** Consequences of every membership's end. */
export const membershipEnd =
  "Personal API keys and connected clients stop working, and open connections end, within seconds.";

/** Asks before removing a member, and which of their keys of the organization to revoke (ORG-6). */
export function RemoveMemberDialog(props: {
  readonly member: MemberView;
  readonly organization: { readonly slug: string; readonly name: string };
  readonly onClose: () => void;
}) {
  const { member, organization, onClose } = props;
  const orgSlug = organization.slug;
  const queryClient = useQueryClient();
  const keys = useQuery({
    ...apiKeysQuery(orgSlug, "organization"),
    staleTime: 0,
    select: (all) => all.filter((key) => key.status === "active" && key.createdBy?.id === member.userId),
  });
  const [kept, setKept] = useState<readonly string[]>([]);
  const { problem: failure, busy, run } = useSubmit();
  const remove = () =>
    run(async () => {
      const revokeKeys = (keys.data ?? []).flatMap(({ id }) => (kept.includes(id) ? [] : id));
      await removeMember({ data: { orgSlug, userId: member.userId, revokeKeys } });
      toast.success(`${member.name} was removed`);
      onClose();
      for (const queryKey of [
        membersQuery(orgSlug).queryKey,
        invitationsQuery(orgSlug).queryKey,
        profileQuery.queryKey,
        apiKeysQueryKey(orgSlug),
      ])
        await queryClient.invalidateQueries({ queryKey });
    });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title={`Remove ${member.name}?`}
      description={`Their access to ${organization.name} ends now, as do the invitations that they sent. ${membershipEnd} What they deployed stays.`}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button variant="danger" busy={busy} disabled={keys.isFetching} onClick={() => void remove()}>
            Remove member
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        {keys.isPending ? <SkeletonRows rows={2} /> : null}
        {keys.error ? (
          <Callout tone="warn">{`Couldn't load the keys that they created. ${failureText(keys.error)}`}</Callout>
        ) : null}
        {keys.data && keys.data.length > 0 ? (
          <CreatedKeys keys={keys.data} kept={kept} onChange={setKept} memberName={member.name} />
        ) : null}
        <Failure>{failure}</Failure>
      </div>
    </Dialog>
  );
}

/** All are revoked unless unchecked, because their creator has seen them. */
function CreatedKeys(props: {
  readonly keys: readonly ApiKeyView[];
  readonly kept: readonly string[];
  readonly onChange: (kept: readonly string[]) => void;
  readonly memberName: string;
}) {
  const { keys, kept, onChange, memberName } = props;
  return (
    <fieldset className="space-y-2">
      <legend className="text-sm font-medium">Revoke organization keys</legend>
      <p className="text-sm text-muted">
        {`${memberName} created these and may have kept a copy. Clear those that others still use.`}
      </p>
      {keys.map(({ id, name, start, scope, lastUsedAt }) => (
        <Checkbox
          key={id}
          checked={!kept.includes(id)}
          onChange={(checked) => onChange(checked ? kept.filter((each) => each !== id) : [...kept, id])}
        >
          {name} <code className="text-xs text-muted">{start}…</code>
          <span className="block text-xs text-muted">
            {scope === "manage" ? "Manages servers" : "Calls servers"} · {lastUsedAt ? "last used " : "never used"}
            {lastUsedAt ? <RelativeTime time={lastUsedAt} /> : null}
          </span>
        </Checkbox>
      ))}
    </fieldset>
  );
}
