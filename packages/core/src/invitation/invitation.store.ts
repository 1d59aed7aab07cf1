import { randomToken, sha256 } from "@towpath/crypto";
import type { Database, Transaction } from "@towpath/db";
import { invitation, mailMessage, user } from "@towpath/db/schema";
import { and, desc, eq, type SQL } from "drizzle-orm";
import type { Context } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { isId } from "../input/index.ts";
import { displayNameOf } from "../organization/index.ts";
import { type InvitableRole, invitableRoles } from "./invitation.schema.ts";

/** An invitation that nobody has accepted, as the members page lists it (ORG-6). */
export type InvitationView = {
  readonly id: string;
  readonly email: string;
  readonly role: InvitableRole;
  readonly status: "pending" | "expired";
  readonly invitedBy: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** The latest message about it; null when none was sent. */
  readonly mail: { readonly status: "queued" | "sent" | "failed"; readonly problem: string | null } | null;
};

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

/** A link with a token of its own. Only the token's hash is stored, so no earlier link can be shown again. */
export function newLink(ctx: Context, row: Pick<InvitationRow, "id" | "tokenHashes">) {
  if (!ctx.dashboardUrl) throw new TowpathError("not_configured", "This process knows no address for links.");
  const token = randomToken();
  return {
    link: `${ctx.dashboardUrl}/invitations/${row.id}?token=${token}`,
    tokenHashes: [...row.tokenHashes, sha256(token)].slice(-maxLinks),
  };
}

export const opensInvitation = (row: Pick<InvitationRow, "tokenHashes">, token: string): boolean =>
  row.tokenHashes.includes(sha256(token));
