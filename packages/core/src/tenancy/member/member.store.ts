import type { Database, Transaction } from "@towpath/db";
import { invitation, member, organization, session, user } from "@towpath/db/schema";
import { and, asc, eq, inArray, max, or, sql } from "drizzle-orm";
import { z } from "zod";
import { type Role, roles } from "../../context/index.ts";
import { displayNameOf } from "../organization/index.ts";

/** A member of an organization (ORG-6). */
export const memberViewSchema = z.object({
  userId: z.string(),
  name: z.string(),
  email: z.string(),
  profilePictureUrl: z.string().nullable(),
  role: z.enum(roles),
  joinedAt: z.iso.datetime(),
  /** When they last used the dashboard, to a day; null when they have no session that is kept. */
  lastActiveAt: z.iso.datetime().nullable(),
});
export type MemberView = z.infer<typeof memberViewSchema>;

/** Everybody, those who joined first first. */
export async function listMemberViews(db: Database, organizationId: string): Promise<readonly MemberView[]> {
  const activeAt = db
    .select({ at: max(session.updatedAt) })
    .from(session)
    .where(eq(session.userId, member.userId));
  const rows = await db
    .select({ member, user, activeAt: sql<string | null>`(${activeAt})` })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(eq(member.organizationId, organizationId))
    .orderBy(asc(member.createdAt), asc(member.id));
  return rows.map(({ member: membership, user: person, activeAt: seenAt }) => ({
    userId: person.id,
    name: displayNameOf(person),
    email: person.email,
    profilePictureUrl: person.image,
    role: membership.role as Role,
    joinedAt: membership.createdAt.toISOString(),
    lastActiveAt: seenAt === null ? null : new Date(seenAt).toISOString(),
  }));
}

export type MemberRow = {
  readonly userId: string;
  readonly role: string;
  readonly name: string;
  readonly email: string;
};

/**
 * The owners and these members, locked until the transaction ends. Every change of members takes this lock, so two owners
 * can't leave at the same time. It doesn't block inserts of rows that refer to the organization, such as entries of the
 * audit log in a transaction that holds a row which this one is to change.
 */
export async function lockMembers(
  tx: Transaction,
  organizationId: string,
  userIds: readonly string[],
): Promise<readonly MemberRow[]> {
  await tx
    .select({ id: organization.id })
    .from(organization)
    .where(eq(organization.id, organizationId))
    .for("no key update");
  const rows = await tx
    .select({ role: member.role, person: user })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(
      and(
        eq(member.organizationId, organizationId),
        or(eq(member.role, "owner"), inArray(member.userId, [...userIds])),
      ),
    );
  return rows.map(({ role, person }) => ({
    userId: person.id,
    role,
    name: displayNameOf(person),
    email: person.email,
  }));
}

/**
 * Ends what somebody has offered to others, also by copied links of others' invitations: who may no longer invite must
 * not have left a door open.
 */
export async function revokeInvitationsOf(tx: Transaction, organizationId: string, userId: string): Promise<void> {
  const pending = and(eq(invitation.organizationId, organizationId), eq(invitation.status, "pending"));
  await tx
    .update(invitation)
    .set({ status: "revoked" })
    .where(and(pending, eq(invitation.inviterId, userId)));
  const { tokenHashes, linkMakers } = invitation;
  const others = sql`SELECT hash FROM unnest(${tokenHashes}) WITH ORDINALITY AS link (hash, position)
    WHERE ${linkMakers} ->> hash IS DISTINCT FROM ${userId} ORDER BY position`;
  await tx
    .update(invitation)
    .set({ tokenHashes: sql`ARRAY(${others})` })
    .where(and(pending, sql`EXISTS (SELECT FROM jsonb_each_text(${linkMakers}) WHERE value = ${userId})`));
}
