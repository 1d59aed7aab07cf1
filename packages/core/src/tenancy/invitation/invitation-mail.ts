import type { Mail } from "../../ports/index.ts";
import type { InvitableRole } from "./invitation.schema.ts";

type Invitation = {
  readonly to: string;
  /** As in the audit log: `user:<id>`; null for the operator. */
  readonly sender: string | null;
  readonly organizationName: string;
  /** Null: the operator. */
  readonly inviter: { readonly name: string; readonly email: string } | null;
  readonly role: InvitableRole;
  readonly link: string;
  readonly expiresAt: Date;
};

/** The message of an invitation. Pure. */
export function invitationMail(input: Invitation): Mail {
  const { inviter, role } = input;
  const who = inviter && (plainName(inviter.name) ?? inviter.email);
  const organization = plainName(input.organizationName) ?? "an organization";
  const full = inviter && (who === inviter.email ? who : `${who} (${inviter.email})`);
  const day = input.expiresAt.toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
  return {
    purpose: "invitation",
    to: input.to,
    sender: input.sender,
    subject: who ? `${who} invites you to ${organization} on Towpath` : `You're invited to ${organization} on Towpath`,
    paragraphs: [
      full
        ? `${full} invites you to join ${organization} on Towpath as ${article(role)}.`
        : `You're invited to join ${organization} on Towpath as ${article(role)}.`,
      `The link works once, until ${day}, for an account with the address ${input.to}.`,
    ],
    action: { label: "Accept the invitation", url: input.link },
    footnote:
      "Someone entered your address on this Towpath instance. If you don't know them, ignore this message. Nothing will happen.",
  };
}

const article = (role: InvitableRole) => `${role === "admin" ? "an" : "a"} ${role}`;

const looksLikeLink = /[/\\@]|\p{L}\p{L}\.\p{L}\p{L}|www\./iu;

/**
 * A name that others may read in a message from us; null for one that looks like a link or a message of its own, because
 * anybody can choose names and have us write to strangers.
 */
export function plainName(name: string): string | null {
  const text = name.replace(/\s+/g, " ").trim();
  return text === "" || text.length > 64 || looksLikeLink.test(text) ? null : text;
}
