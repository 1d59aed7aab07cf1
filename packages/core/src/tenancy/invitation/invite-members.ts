import type { Transaction } from "@towpath/db";
import { invitation, member, user } from "@towpath/db/schema";
import { and, eq, inArray, sql } from "drizzle-orm";
import { z } from "zod";
import { audit } from "../../audit/index.ts";
import { authorize } from "../../authorize/index.ts";
import type { Context, OrganizationAccess } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { displayNameOf } from "../organization/index.ts";
import { type InvitableRole, inviteSchema } from "./invitation.schema.ts";
import { invitationViewSchema, inviterOf, newLink, requireInvitationView, validForMs } from "./invitation.store.ts";
import { invitationMail } from "./invitation-mail.ts";

/** Invitations of one organization that may be open at a time. */
const maxPending = 200;

/** An invitation with its link, which is shown this once. */
export const newInvitationSchema = invitationViewSchema.extend({
  link: z.url().describe("shown this once"),
  notSent: z.string().nullable().describe("why no mail is sent"),
});
export type NewInvitationView = z.infer<typeof newInvitationSchema>;

export type InviteResult = {
  readonly invited: readonly NewInvitationView[];
  /** Addresses that need no invitation. */
  readonly skipped: readonly { readonly email: string; readonly why: "member" | "invited" }[];
};

/**
 * Invites people by email, for seven days (ORG-6). Each gets a message, if the instance sends mail; the links are
 * returned in any case.
 *
 * @throws TowpathError `forbidden`, `invalid_input`; `limit_reached` when too many invitations are open
 */
export async function inviteMembers(call: {
  ctx: Context<"mail">;
  input: { readonly orgSlug: string; readonly emails: readonly string[]; readonly role: string };
}): Promise<InviteResult> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "member.manage", { orgSlug: call.input.orgSlug });
  const { emails, role } = parseInput(inviteSchema, call.input);
  return ctx.db.transaction(async (tx) => {
    // One at a time, so that an address is invited once and the limit holds.
    await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtext(${`towpath_invite ${organization.id}`}))`);
    const skipped = await whoNeedsNone(tx, ctx, organization.id, emails);
    const toInvite = emails.filter((email) => !skipped.some((each) => each.email === email));
    await requireRoom(tx, organization.id, toInvite.length);
    const invited: NewInvitationView[] = [];
    for (const email of toInvite) invited.push(await inviteOne(tx, ctx, organization, { email, role }));
    return { invited, skipped };
  });
}

async function inviteOne(
  tx: Transaction,
  ctx: Context<"mail">,
  organization: OrganizationAccess["organization"],
  { email, role }: { readonly email: string; readonly role: InvitableRole },
): Promise<NewInvitationView> {
  const [id, now] = [newId(), ctx.clock.now()];
  const inviterId = inviterOf(ctx);
  const { link, links } = newLink(ctx, { id, email, inviterId, tokenHashes: [], linkMakers: {} });
  const expiresAt = new Date(now.getTime() + validForMs);
  const offer = { email, role, expiresAt, link };
  const { mailId, notSent } = await sendInvitation(tx, ctx, organization, offer);
  await tx.insert(invitation).values({
    id,
    organizationId: organization.id,
    email,
    role,
    status: "pending",
    inviterId,
    ...links,
    mailId,
    expiresAt,
    createdAt: now,
  });
  await audit(tx, ctx, {
    organizationId: organization.id,
    action: "invitation.create",
    subject: id,
    detail: { email, role, mailed: mailId !== null },
  });
  const view = await requireInvitationView(ctx, tx, { organizationId: organization.id, id });
  return { ...view, link, notSent };
}

/** Queues the message. A full mailbox of it is no reason to refuse the invitation: there is the link. */
export async function sendInvitation(
  tx: Transaction,
  ctx: Context<"mail">,
  organization: OrganizationAccess["organization"],
  offer: { readonly email: string; readonly role: InvitableRole; readonly expiresAt: Date; readonly link: string },
): Promise<{ readonly mailId: string | null; readonly notSent: string | null }> {
  if (!ctx.mail) return { mailId: null, notSent: "This instance sends no email." };
  const userId = ctx.actor.kind === "user" ? ctx.actor.userId : null;
  const [person] = userId === null ? [] : await tx.select().from(user).where(eq(user.id, userId));
  const { email: to, ...rest } = offer;
  const inviter = person ? { name: displayNameOf(person), email: person.email } : null;
  const sender = userId === null ? null : `user:${userId}`;
  try {
    const mail = invitationMail({ ...rest, to, sender, inviter, organizationName: organization.name });
    return { mailId: (await ctx.mail.send(mail, tx)).id, notSent: null };
  } catch (error) {
    if (!(error instanceof TowpathError) || error.code !== "limit_reached") throw error;
    return { mailId: null, notSent: error.message };
  }
}

/** Removes expired invitations of these addresses, and says who is a member or invited. */
async function whoNeedsNone(
  tx: Transaction,
  ctx: Context,
  organizationId: string,
  emails: readonly string[],
): Promise<InviteResult["skipped"]> {
  const members = await tx
    .select({ email: sql<string>`lower(${user.email})` })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(and(eq(member.organizationId, organizationId), inArray(sql`lower(${user.email})`, [...emails])));
  const isPending = and(
    eq(invitation.organizationId, organizationId),
    eq(invitation.status, "pending"),
    inArray(invitation.email, [...emails]),
  );
  const pending = await tx.select().from(invitation).where(isPending).for("update");
  const expired = pending.filter(({ expiresAt }) => expiresAt <= ctx.clock.now()).map(({ id }) => id);
  if (expired.length > 0)
    await tx
      .update(invitation)
      .set({ status: "revoked" })
      .where(and(isPending, inArray(invitation.id, expired)));
  return [
    ...members.map(({ email }) => ({ email, why: "member" as const })),
    ...pending.filter(({ id }) => !expired.includes(id)).map(({ email }) => ({ email, why: "invited" as const })),
  ];
}

async function requireRoom(tx: Transaction, organizationId: string, more: number): Promise<void> {
  const open = and(eq(invitation.organizationId, organizationId), eq(invitation.status, "pending"));
  if ((await tx.$count(invitation, open)) + more <= maxPending) return;
  throw new TowpathError(
    "limit_reached",
    `An organization can have ${maxPending} open invitations. Revoke some, and invite again.`,
  );
}
