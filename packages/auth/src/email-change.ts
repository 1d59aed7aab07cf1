import { randomToken, sha256 } from "@towpath/crypto";
import type { Database, Transaction } from "@towpath/db";
import { session, user, verification } from "@towpath/db/schema";
import { and, eq, gt, ne } from "drizzle-orm";
import { z } from "zod";

/** How long a link works, in seconds. */
const linkSeconds = 3600;

/** Identifies an account's pending change: one at a time. */
const waitingFor = (userId: string) => `email-change:${userId}`;

const storedSchema = z.object({ email: z.string(), tokenHash: z.string() });

type Own = { readonly userId: string; readonly sessionId: string };
type PendingEmail = { readonly email: string; readonly expiresAt: Date };

/** `from`: the previous address. `taken`: meanwhile another account has the new one. */
type EmailChanged = { readonly from: string; readonly to: string } | "no_such_link" | "taken";

/**
 * Changes of the email address with which a person signs in. Our own, not better-auth's: its links are signed and not
 * stored, so they could not be canceled, and it requires no password.
 */
export type EmailChange = {
  /**
   * Stores a pending change, in place of an earlier one. `send` gets the link's token, of which only a hash is stored;
   * if it throws, nothing changes.
   */
  begin(userId: string, email: string, send: (token: string, tx: Transaction) => Promise<void>): Promise<void>;
  pending(userId: string): Promise<PendingEmail | null>;
  /** The new address, if this link belongs to the account's pending change. */
  check(userId: string, token: string): Promise<string | null>;
  cancel(userId: string): Promise<boolean>;
  /** Uses the link up. The account's other sessions end, and so do links that were sent to the old address. */
  confirm(own: Own, token: string): Promise<EmailChanged>;
  /** Changes the address at once, unverified: for instances that send no email. */
  change(own: Own, email: string): Promise<EmailChanged>;
  isTaken(email: string): Promise<boolean>;
};

export function createEmailChange(db: Database, newId: () => string): EmailChange {
  const waiting = async (tx: Database | Transaction, userId: string) => {
    const own = and(eq(verification.identifier, waitingFor(userId)), gt(verification.expiresAt, new Date()));
    const [row] = await tx.select().from(verification).where(own);
    return row ? { ...storedSchema.parse(JSON.parse(row.value)), expiresAt: row.expiresAt } : null;
  };
  return {
    begin: (userId, email, send) =>
      db.transaction(async (tx) => {
        await tx.select({ id: user.id }).from(user).where(eq(user.id, userId)).for("update");
        await cancelEmailChange(tx, userId);
        const token = randomToken();
        await tx.insert(verification).values({
          id: newId(),
          identifier: waitingFor(userId),
          value: JSON.stringify({ email, tokenHash: sha256(token) }),
          expiresAt: new Date(Date.now() + linkSeconds * 1000),
        });
        await send(token, tx);
      }),
    async pending(userId) {
      const found = await waiting(db, userId);
      return found && { email: found.email, expiresAt: found.expiresAt };
    },
    async check(userId, token) {
      const found = await waiting(db, userId);
      return found?.tokenHash === sha256(token) ? found.email : null;
    },
    cancel: (userId) => cancelEmailChange(db, userId),
    confirm: (own, token) =>
      db.transaction(async (tx) => {
        await tx.select({ id: user.id }).from(user).where(eq(user.id, own.userId)).for("update");
        const found = await waiting(tx, own.userId);
        if (found?.tokenHash !== sha256(token)) return "no_such_link";
        return setEmail(tx, own, { email: found.email, isVerified: true });
      }),
    change: (own, email) => db.transaction((tx) => setEmail(tx, own, { email, isVerified: false })),
    isTaken: async (email) => (await db.$count(user, eq(user.email, email))) > 0,
  };
}

async function setEmail(
  tx: Transaction,
  { userId, sessionId }: Own,
  next: { readonly email: string; readonly isVerified: boolean },
): Promise<EmailChanged> {
  const [before] = await tx.select({ email: user.email }).from(user).where(eq(user.id, userId)).for("update");
  if (!before) return "no_such_link";
  if ((await tx.$count(user, and(eq(user.email, next.email), ne(user.id, userId)))) > 0) return "taken";
  const changed = { email: next.email, emailVerified: next.isVerified, updatedAt: new Date() };
  await tx.update(user).set(changed).where(eq(user.id, userId));
  await tx.delete(session).where(and(eq(session.userId, userId), ne(session.id, sessionId)));
  await cancelEmailChange(tx, userId);
  // Links for a new password, which the old mailbox may have.
  await tx.delete(verification).where(eq(verification.value, userId));
  return { from: before.email, to: next.email };
}

/** Cancels a pending change; returns whether there was one. */
export async function cancelEmailChange(tx: Database | Transaction, userId: string): Promise<boolean> {
  const own = eq(verification.identifier, waitingFor(userId));
  return (await tx.delete(verification).where(own).returning({ id: verification.id })).length > 0;
}
