import { useQueryClient } from "@tanstack/react-query";
import type { InvitationView } from "@towpath/core/tenancy/invitation";
import { Ban, Ellipsis, Link2, Send } from "lucide-react";
import { useState } from "react";
import { Ask, type Question } from "~/ui/ask.tsx";
import { Badge } from "~/ui/badge.tsx";
import { actionsColumn, type Column, DataTable, leadColumn } from "~/ui/data-table.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Menu, MenuItem } from "~/ui/menu.tsx";
import { RelativeTime } from "~/ui/time.tsx";
import { failureText, toast } from "~/ui/toast.ts";
import type { Invited } from "./invited-notice.tsx";
import { createLink, invitationsQuery, revokeInvitation, sendAgain } from "./members.functions.ts";

type TableProps = {
  readonly invitations: readonly InvitationView[];
  readonly orgSlug: string;
  /** Called when an invitation was sent again, or its link was requested. */
  readonly onSent: (result: Invited) => void;
};

/** Invitations that nobody has accepted yet. */
export function InvitationTable({ invitations, orgSlug, onSent }: TableProps) {
  const [question, setQuestion] = useState<Question | null>(null);
  const columns: readonly Column<InvitationView>[] = [
    leadColumn("Email", ({ email }) => email, {
      cell: ({ email, createdAt, invitedBy }) => (
        <>
          <span className="font-medium break-all">{email}</span>
          <span className="block text-xs text-muted">
            Invited <RelativeTime time={createdAt} />
            {invitedBy ? ` by ${invitedBy}` : null}
          </span>
        </>
      ),
    }),
    { name: "Role", by: ({ role }) => role, cell: ({ role }) => role, className: "capitalize" },
    { name: "Message", cell: ({ mail }) => <MailStatus mail={mail} /> },
    {
      name: "Expires",
      by: ({ expiresAt }) => expiresAt,
      className: "text-muted",
      cell: ({ status, expiresAt }) =>
        status === "expired" ? <Badge tone="warn">Expired</Badge> : <RelativeTime time={expiresAt} />,
    },
    actionsColumn(
      (each) => <InvitationActions invitation={each} orgSlug={orgSlug} onSent={onSent} ask={setQuestion} />,
      {
        wide: false,
      },
    ),
  ];
  return (
    <>
      <DataTable label="Invitations" rows={invitations} keyOf={({ id }) => id} columns={columns} />
      <Ask question={question} onClose={() => setQuestion(null)} />
    </>
  );
}

function MailStatus({ mail }: { readonly mail: InvitationView["mail"] }) {
  if (!mail) return <span className="text-muted">Link only</span>;
  if (mail.status === "sent") return <Badge tone="ok">Sent</Badge>;
  if (mail.status === "queued") return <Badge tone="info">On its way</Badge>;
  return (
    <span className="flex flex-col items-start gap-0.5">
      <Badge tone="bad">Not delivered</Badge>
      <span className="text-xs break-words text-muted">{mail.problem}</span>
    </span>
  );
}

function InvitationActions(props: {
  readonly invitation: InvitationView;
  readonly orgSlug: string;
  readonly onSent: TableProps["onSent"];
  readonly ask: (question: Question) => void;
}) {
  const { invitation, orgSlug, onSent, ask } = props;
  const queryClient = useQueryClient();
  const { email } = invitation;
  const data = { orgSlug, invitationId: invitation.id };
  const refresh = () => queryClient.invalidateQueries({ queryKey: invitationsQuery(orgSlug).queryKey });
  const copy = async () => {
    try {
      const { link } = await createLink({ data });
      const copied = await navigator.clipboard.writeText(link).then(
        () => true,
        () => false,
      );
      if (copied) toast.success(`Link for ${email} copied`);
      else onSent({ invited: [{ email, link, notSent: "" }], skipped: [] });
    } catch (error) {
      toast.error(failureText(error));
    }
  };
  const resend = async () => {
    try {
      onSent({ invited: [await sendAgain({ data })], skipped: [] });
    } catch (error) {
      toast.error(failureText(error));
    }
  };
  const revoke = async () => {
    await revokeInvitation({ data });
    await refresh();
    toast.success(`The invitation of ${email} was revoked`);
  };
  return (
    <Menu
      trigger={
        <IconButton label={`Actions for ${email}`} size="sm">
          <Ellipsis />
        </IconButton>
      }
    >
      <MenuItem icon={<Link2 />} disabled={invitation.status === "expired"} onClick={() => void copy()}>
        Copy link
      </MenuItem>
      <MenuItem icon={<Send />} onClick={() => void resend()}>
        Send again
      </MenuItem>
      <MenuItem
        danger
        icon={<Ban />}
        onClick={() =>
          ask({
            title: `Revoke the invitation of ${email}?`,
            description: "Its links stop working now. You can invite them again.",
            action: "Revoke invitation",
            danger: true,
            run: revoke,
          })
        }
      >
        Revoke
      </MenuItem>
    </Menu>
  );
}
