import type { Database, Transaction } from "@towpath/db";
import { invitation, member, organization, user } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { requireUser } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { isId } from "../../input/index.ts";
import { displayNameOf } from "../organization/index.ts";
import type { InvitableRole, InvitationOfferView } from "./invitation.schema.ts";
import { areMakersEntitled, type InvitationRow, opensInvitation, roleOf } from "./invitation.store.ts";

type LinkInput = { readonly invitationId: string; readonly token: string };

/**
 * What an invitation's link offers, for anybody who has it (ORG-6). Only the invited account sees its
 * full address: a forwarded link must not reveal it.
 *
 * @throws TowpathError `not_found` for a link that was never given out, or was replaced by a later one
 */
export async function getInvitationOffer({ ctx, input }: Call<LinkInput>): Promise<InvitationOfferView> {
  const row = await requireOpenedBy(ctx.db, input);
  const state = await stateOf(ctx, ctx.db, row, input.token);
  const [found] = await ctx.db.select().from(organization).where(eq(organization.id, row.organizationId));
  if (!found) throw notFound("invitation");
  const [inviter] = row.inviterId ? await ctx.db.select().from(user).where(eq(user.id, row.inviterId)) : [];
  const { viewer, isInvited } = await viewerOf(ctx, row);
  return {
    state,
    organizationName: found.name,
    role: roleOf(row),
    invitedBy: inviter ? displayNameOf(inviter) : null,
    email: isInvited ? row.email : masked(row.email),
    expiresAt: row.expiresAt.toISOString(),
    viewer,
    orgSlug: viewer === "member" ? found.slug : null,
  };
}

/**
 * Makes the signed-in user a member (ORG-6). A link works once, and for an account with the invited address only
 * (decision 034), while those who made it may still invite. Somebody who is already a member keeps their role.
 *
 * @throws TowpathError `not_found` as `getInvitationOffer`; `forbidden` for another account; `conflict` when it has
 * expired, was revoked or used
 */
export async function acceptInvitation(call: {
  ctx: Context;
  input: LinkInput;
}): Promise<{ readonly organizationId: string; readonly orgSlug: string; readonly role: InvitableRole }> {
  const { ctx, input } = call;
  const userId = requireUser(ctx);
  return ctx.db.transaction(async (tx) => {
    const { organizationId } = await requireOpenedBy(tx, input);
    // Whoever changes members has this row locked first: nobody who made the link is removed meanwhile, or both would wait.
    const [found] = await tx.select().from(organization).where(eq(organization.id, organizationId)).for("share");
    if (!found) throw notFound("invitation");
    const row = await requireOpenedBy(tx, input, "lock");
    const state = await stateOf(ctx, tx, row, input.token);
    if (state !== "open") throw new TowpathError("conflict", refusals[state]);
    const [person] = await tx.select().from(user).where(eq(user.id, userId));
    if (person?.email.toLowerCase() !== row.email)
      throw new TowpathError("forbidden", "Forbidden: this invitation is for a different email address.");
    const role = roleOf(row);
    await tx
      .update(invitation)
      .set({ status: "accepted" })
      .where(and(eq(invitation.id, row.id), eq(invitation.status, "pending")));
    await tx
      .insert(member)
      .values({ id: newId(), organizationId, userId, role, createdAt: ctx.clock.now() })
      .onConflictDoNothing({ target: [member.organizationId, member.userId] });
    await audit(tx, ctx, {
      organizationId,
      action: "invitation.accept",
      subject: row.id,
      detail: { email: row.email, emailVerified: person.emailVerified, role, name: displayNameOf(person) },
    });
    return { organizationId, orgSlug: found.slug, role };
  });
}

const refusals = {
  expired: "This invitation has expired. Ask for a new one.",
  revoked: "This invitation was revoked. Ask for a new one.",
  used: "This invitation was already used.",
} as const;

async function stateOf(
  ctx: Context,
  db: Database | Transaction,
  row: InvitationRow,
  token: string,
): Promise<InvitationOfferView["state"]> {
  if (row.status === "accepted") return "used";
  if (row.status !== "pending" || !(await areMakersEntitled(db, row, token))) return "revoked";
  return row.expiresAt > ctx.clock.now() ? "open" : "expired";
}

/** Who has opened the link, and whether their account has the invited address. */
async function viewerOf(ctx: Context, row: InvitationRow) {
  if (ctx.actor.kind !== "user") return { viewer: "signed-out", isInvited: false } as const;
  const { userId } = ctx.actor;
  const [person] = await ctx.db
    .select({ email: user.email, memberId: member.id })
    .from(user)
    .leftJoin(member, and(eq(member.userId, user.id), eq(member.organizationId, row.organizationId)))
    .where(eq(user.id, userId));
  const isInvited = person?.email.toLowerCase() === row.email;
  if (person?.memberId) return { viewer: "member", isInvited } as const;
  return { viewer: isInvited ? "mine" : "other", isInvited } as const;
}

/** By its token, which is the only key that the visitor has: the tenant follows from it. */
async function requireOpenedBy(db: Database | Transaction, input: LinkInput, lock?: "lock"): Promise<InvitationRow> {
  if (!isId(input.invitationId)) throw notFound("invitation");
  const query = db.select().from(invitation).where(eq(invitation.id, input.invitationId));
  const [row] = await (lock ? query.for("update") : query);
  if (!row || !opensInvitation(row, input.token)) throw notFound("invitation");
  return row;
}

/** `ada@example.com` → `a…@example.com` */
const masked = (email: string) => email.replace(/^(.)[^@]*/u, "$1…");
