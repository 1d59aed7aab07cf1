import { z } from "zod";

/** Roles that an invitation gives. Nobody becomes an owner by a link: an owner makes a member one. */
export const invitableRoles = ["admin", "member", "viewer"] as const;
export type InvitableRole = (typeof invitableRoles)[number];

const maxAddresses = 20;

export const inviteSchema = z.object({
  emails: z
    .array(
      z
        .string()
        .trim()
        .max(254)
        .pipe(z.email())
        .transform((email) => email.toLowerCase()),
      { error: "Enter at least one email address" },
    )
    .min(1, "Enter at least one email address")
    .max(maxAddresses, `Invite at most ${maxAddresses} people at a time`)
    .transform((emails) => [...new Set(emails)]),
  role: z.enum(invitableRoles, { error: "Choose a role. Only an owner can make a member an owner" }),
});

/** Addresses as people paste them: separated by commas, semicolons, spaces or lines, also as `Ada <ada@example.com>`. */
export function splitAddresses(text: string): readonly string[] {
  const found = text.split(/[,;\n]/).flatMap((part) => {
    const bracketed = part.split("<")[1]?.split(">")[0];
    return bracketed === undefined ? part.split(/\s/) : [bracketed];
  });
  return [...new Set(found.map((each) => each.trim().toLowerCase()).filter((each) => each !== ""))];
}

/** Those that are no email addresses. */
export const faultyAddresses = (emails: readonly string[]): readonly string[] =>
  emails.filter((email) => !z.email().max(254).safeParse(email).success);

/** What a link shows to who has opened it. */
export type InvitationOfferView = {
  readonly state: "open" | "expired" | "revoked" | "used";
  readonly organizationName: string;
  readonly role: InvitableRole;
  /** Null: the operator invited them, or the person's account is gone. */
  readonly invitedBy: string | null;
  /** The whole address only for who has it; `a…@example.com` for all others. */
  readonly email: string;
  readonly expiresAt: string;
  /** Whether the visitor may accept: `mine`; `other`: signed in with another address. */
  readonly viewer: "signed-out" | "mine" | "other" | "member";
  /** Of the organization, for its members only. */
  readonly orgSlug: string | null;
};
