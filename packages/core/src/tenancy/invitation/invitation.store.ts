import { randomToken, sha256 } from "@towpath/crypto";
import type { Database, Transaction } from "@towpath/db";
import { invitation, mailMessage, member, user } from "@towpath/db/schema";
import { and, desc, eq, inArray, type SQL } from "drizzle-orm";
import { z } from "zod";
import { roleMay } from "../../authorize/index.ts";
import { type Context, roles } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { displayNameOf } from "../organization/index.ts";
import { type InvitableRole, invitableRoles } from "./invitation.schema.ts";

/** An invitation that nobody has accepted, as the members page lists it (ORG-6). */
export const invitationViewSchema = z.object({
  id: z.uuid(),
  email: z.string(),
  role: z.enum(invitableRoles),
  status: z.enum(["pending", "expired"]),
  invitedBy: z.string().nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** The latest message about it; null when none was sent. */
  mail: z.object({ status: z.enum(["queued", "sent", "failed"]), problem: z.string().nullable() }).nullable(),
});
export type InvitationView = z.infer<typeof invitationViewSchema>;

export type InvitationRow = typeof invitation.$inferSelect;
type Queryable = Database | Transaction;

export const validForMs = 7 * 86_400_000;
/** Links of one invitation that work at the same time; a further one ends the oldest. */
const maxLinks = 10;

/** Those that are pending, also if they have expired meanwhile; newest first. */
export function listInvitationViews(ctx: Context, organizationId: string): Promise<InvitationView[]> {
  return invitationViews(ctx, ctx.db, organizationId);
}

export async function requireInvitationView(
  ctx: Context,
  db: Queryable,
  { organizationId, id }: { readonly organizationId: string; readonly id: string },
): Promise<InvitationView> {
  const [view] = await invitationViews(ctx, db, organizationId, eq(invitation.id, id));
  if (!view) throw notFound("invitation");
  return view;
}

async function invitationViews(
  ctx: Context,
  db: Queryable,
  organizationId: string,
  condition?: SQL,
): Promise<InvitationView[]> {
  const rows = await db
    .select({ invitation, inviter: user, mail: { status: mailMessage.status, problem: mailMessage.problem } })
    .from(invitation)
    .leftJoin(user, eq(user.id, invitation.inviterId))
    .leftJoin(mailMessage, eq(mailMessage.id, invitation.mailId))
    .where(and(eq(invitation.organizationId, organizationId), eq(invitation.status, "pending"), condition))
    .orderBy(desc(invitation.createdAt), desc(invitation.id));
  return rows.map(({ invitation: row, inviter, mail }) => ({
    id: row.id,
    email: row.email,
    role: roleOf(row),
    status: row.expiresAt > ctx.clock.now() ? "pending" : "expired",
    invitedBy: inviter && displayNameOf(inviter),
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    mail: mail && { status: mail.status as "queued" | "sent" | "failed", problem: mail.problem },
  }));
}

/** A role that this version doesn't give, written by another one, gives the least. */
export const roleOf = (row: { readonly role: string | null }): InvitableRole =>
  invitableRoles.find((role) => role === row.role) ?? "viewer";

/** A pending one, locked until the transaction ends. @throws TowpathError `not_found` */
export async function lockPending(
  tx: Transaction,
  organizationId: string,
  invitationId: string,
): Promise<InvitationRow> {
  const [row] = isId(invitationId)
    ? await tx
        .select()
        .from(invitation)
        .where(
          and(
            eq(invitation.organizationId, organizationId),
            eq(invitation.id, invitationId),
            eq(invitation.status, "pending"),
          ),
        )
        .for("update")
    : [];
  if (!row) throw notFound("invitation");
  return row;
}

type Links = Pick<InvitationRow, "inviterId" | "tokenHashes" | "linkMakers">;

/**
 * A link with a token of its own, of who acts. Only the token's hash is stored, so no earlier link can be shown again.
 * `links`: what to store.
 */
export function newLink(ctx: Context, row: Pick<InvitationRow, "id" | "email"> & Links) {
  const token = randomToken();
  const [hash, maker] = [sha256(token), inviterOf(ctx)];
  const tokenHashes = [...row.tokenHashes, hash].slice(-maxLinks);
  const makers = maker === row.inviterId ? row.linkMakers : { ...row.linkMakers, [hash]: maker };
  const linkMakers = Object.fromEntries(Object.entries(makers).filter(([each]) => tokenHashes.includes(each)));
  // The page itself names the address in part only, and fills it in where the link has it.
  const query = new URLSearchParams({ email: row.email, token });
  return { link: `${ctx.dashboardUrl}/invitations/${row.id}?${query}`, links: { tokenHashes, linkMakers } };
}

/** Who invites, or vouches for a further link; null: the operator. */
export const inviterOf = ({ actor }: Context): string | null => (actor.kind === "user" ? actor.userId : null);

export const opensInvitation = (row: Pick<InvitationRow, "tokenHashes">, token: string): boolean =>
  row.tokenHashes.includes(sha256(token));

/**
 * Whether those who made an invitation and this link of it may invite now. Members who lose the permission also lose
 * their invitations; this check covers every other way to lose it, and invitations that were being made meanwhile.
 */
export async function areMakersEntitled(db: Queryable, row: InvitationRow, token: string): Promise<boolean> {
  const makers = [...new Set([row.inviterId, row.linkMakers[sha256(token)] ?? null])].filter((id) => id !== null);
  if (makers.length === 0) return true;
  const rows = await db
    .select({ role: member.role })
    .from(member)
    .where(and(eq(member.organizationId, row.organizationId), inArray(member.userId, makers)));
  return rows.filter(({ role }) => mayInvite(role)).length === makers.length;
}

const mayInvite = (name: string): boolean => {
  const role = roles.find((each) => each === name);
  return role !== undefined && roleMay(role, "member.manage");
};
