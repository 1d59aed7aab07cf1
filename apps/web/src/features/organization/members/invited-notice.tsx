import type { InviteResult } from "@towpath/core/tenancy/invitation";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { CodeBlock } from "~/ui/code-block.tsx";

/** Result of inviting people. `link`: shows a requested link, for which no message was sent. */
export type Invited = Pick<InviteResult, "skipped"> & {
  readonly invited: readonly { readonly email: string; readonly link: string; readonly notSent: string | null }[];
};

const reasons = { member: "is already a member", invited: "is already invited" } as const;

/** Shows who got a message, and the links of those who didn't, which can't be shown again. */
export function InvitedNotice({ invited, onDismiss }: { readonly invited: Invited; readonly onDismiss: () => void }) {
  const sent = invited.invited.filter(({ notSent }) => notSent === null);
  const links = invited.invited.filter(({ notSent }) => notSent !== null);
  return (
    <Callout
      tone={links.length > 0 ? "info" : "ok"}
      title={titleOf(sent.length, links.length)}
      actions={
        <Button size="sm" onClick={onDismiss}>
          {links.length > 0 ? "I've copied them" : "Dismiss"}
        </Button>
      }
    >
      {sent.length > 0 ? <p>On its way to {sent.map(({ email }) => email).join(", ")}.</p> : null}
      {links.length > 0 ? (
        <>
          <p>
            {[...new Set(links.map(({ notSent }) => notSent))].filter(Boolean).join(" ")} Send each person their link.
            It works once, for an account with that address.
          </p>
          <ul className="mt-2 flex flex-col gap-2">
            {links.map(({ email, link }) => (
              <li key={email}>
                <span className="text-xs font-medium">{email}</span>
                <CodeBlock code={link} label={`link for ${email}`} wrap className="mt-1" />
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {invited.skipped.map(({ email, why }) => (
        <p key={email}>
          {email} {reasons[why]}.
        </p>
      ))}
    </Callout>
  );
}

function titleOf(sent: number, links: number): string {
  if (sent + links === 0) return "Nobody new was invited";
  if (links > 0) return links === 1 ? "Copy the invitation link" : "Copy the invitation links";
  return sent === 1 ? "Invitation sent" : `${sent} invitations sent`;
}
