import { invitation } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorize } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import {
  type InvitationRow,
  type InvitationView,
  inviterOf,
  listInvitationViews,
  lockPending,
  newLink,
  requireInvitationView,
  roleOf,
  validForMs,
} from "./invitation.store.ts";
import { type NewInvitationView, sendInvitation } from "./invite-members.ts";

type InvitationInput = { readonly orgSlug: string; readonly invitationId: string };

/** Invitations that nobody has accepted, newest first, also expired ones (ORG-6). */
export async function listInvitations(call: Call<{ readonly orgSlug: string }>): Promise<readonly InvitationView[]> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "member.manage", { orgSlug: input.orgSlug });
  return listInvitationViews(ctx, organization.id);
}

/**
 * Sends it again, for another seven days. Earlier links end, so that only the latest message works, and who sends it
 * is from now on who invites.
 */
export async function resendInvitation({ ctx, input }: Call<InvitationInput, "mail">): Promise<NewInvitationView> {
  const { organization } = await authorize(ctx, "member.manage", { orgSlug: input.orgSlug });
  return ctx.db.transaction(async (tx) => {
    const row = await lockPending(tx, organization.id, input.invitationId);
    const inviterId = inviterOf(ctx);
    const { link, links } = newLink(ctx, { id: row.id, email: row.email, inviterId, tokenHashes: [], linkMakers: {} });
    const expiresAt = new Date(ctx.clock.now().getTime() + validForMs);
    const offer = { email: row.email, role: roleOf(row), expiresAt, link };
    const { mailId, notSent } = await sendInvitation(tx, ctx, organization, offer);
    await tx
      .update(invitation)
      .set({ ...links, inviterId, mailId, expiresAt })
      .where(sameAs(row));
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "invitation.resend",
      subject: row.id,
      detail: { email: row.email, role: row.role, mailed: mailId !== null },
    });
    const view = await requireInvitationView(ctx, tx, { organizationId: organization.id, id: row.id });
    return { ...view, link, notSent };
  });
}

/**
 * A further link, to hand over by other means. Those that were sent go on working, and it expires with them; it ends
 * also when who made it may no longer invite.
 */
export async function createInvitationLink({
  ctx,
  input,
}: Call<InvitationInput>): Promise<{ readonly link: string; readonly expiresAt: string }> {
  const { organization } = await authorize(ctx, "member.manage", { orgSlug: input.orgSlug });
  return ctx.db.transaction(async (tx) => {
    const row = await lockPending(tx, organization.id, input.invitationId);
    const { link, links } = newLink(ctx, row);
    await tx.update(invitation).set(links).where(sameAs(row));
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "invitation.createLink",
      subject: row.id,
      detail: { email: row.email },
    });
    return { link, expiresAt: row.expiresAt.toISOString() };
  });
}

/** Ends all of its links at once. */
export async function revokeInvitation({ ctx, input }: Call<InvitationInput>): Promise<{ readonly id: string }> {
  const { organization } = await authorize(ctx, "member.manage", { orgSlug: input.orgSlug });
  await ctx.db.transaction(async (tx) => {
    const row = await lockPending(tx, organization.id, input.invitationId);
    await tx.update(invitation).set({ status: "revoked" }).where(sameAs(row));
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "invitation.revoke",
      subject: row.id,
      detail: { email: row.email },
    });
  });
  return { id: input.invitationId };
}

const sameAs = ({ organizationId, id }: InvitationRow) =>
  and(eq(invitation.organizationId, organizationId), eq(invitation.id, id), eq(invitation.status, "pending"));
