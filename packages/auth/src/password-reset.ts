import { randomToken, sha256 } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { account, session, twoFactor, user, verification } from "@towpath/db/schema";
import { and, eq, gt } from "drizzle-orm";
import { cancelEmailChange } from "./email-change.ts";

/** How long a link works, in seconds. */
const resetLinkSeconds = 3600;

const prefix = "password-reset:";

type ResetLink = {
  readonly token: string;
  readonly userId: string;
  /** The account's own spelling, which the link must be sent to: similar addresses can be other mailboxes. */
  readonly email: string;
  readonly expiresAt: Date;
};

/** Links with which people set a new password without the old one. Each has 256 random bits and works once. */
export type PasswordReset = {
  /** A new link; null for an address without an account here. Only a hash of its token is stored. */
  create(email: string): Promise<ResetLink | null>;
  /** The account's email address, while the link is valid. */
  check(token: string): Promise<string | null>;
  /** Sets the password, ends all sessions, the other links and a pending change of the address. Null: invalid link. */
  use(token: string, password: string): Promise<{ readonly userId: string; readonly email: string } | null>;
  /** Turns a person's second factor off: for operators, when the device and all recovery codes are lost. */
  removeSecondFactor(userId: string): Promise<boolean>;
};

export function createPasswordReset(
  db: Database,
  options: { readonly newId: () => string; readonly hash: (password: string) => Promise<string> },
): PasswordReset {
  const works = (token: string) =>
    and(eq(verification.identifier, identifierOf(token)), gt(verification.expiresAt, new Date()));
  return {
    async create(email) {
      const [found] = await db
        .select({ userId: user.id, email: user.email })
        .from(user)
        .innerJoin(account, and(eq(account.userId, user.id), eq(account.providerId, "credential")))
        .where(eq(user.email, email.trim().toLowerCase()));
      if (!found) return null;
      const token = randomToken();
      const expiresAt = new Date(Date.now() + resetLinkSeconds * 1000);
      await db
        .insert(verification)
        .values({ id: options.newId(), identifier: identifierOf(token), value: found.userId, expiresAt });
      return { token, ...found, expiresAt };
    },
    async check(token) {
      const [row] = await db.select({ userId: verification.value }).from(verification).where(works(token));
      if (!row) return null;
      const [found] = await db.select({ email: user.email }).from(user).where(eq(user.id, row.userId));
      return found?.email ?? null;
    },
    async use(token, password) {
      // Before the transaction: it takes some tenths of a second.
      const hash = await options.hash(password);
      return db.transaction(async (tx) => {
        const [row] = await tx.delete(verification).where(works(token)).returning({ userId: verification.value });
        if (!row) return null;
        const own = and(eq(account.userId, row.userId), eq(account.providerId, "credential"));
        const changed = await tx.update(account).set({ password: hash, updatedAt: new Date() }).where(own).returning();
        const [found] = await tx.select({ email: user.email }).from(user).where(eq(user.id, row.userId));
        if (changed.length === 0 || !found) return null;
        await tx.delete(session).where(eq(session.userId, row.userId));
        // Other links, and sign-ins with the old password that wait for their second factor.
        await tx.delete(verification).where(eq(verification.value, row.userId));
        await cancelEmailChange(tx, row.userId);
        return { userId: row.userId, email: found.email };
      });
    },
    async removeSecondFactor(userId) {
      return db.transaction(async (tx) => {
        await tx.update(user).set({ twoFactorEnabled: false }).where(eq(user.id, userId));
        const removed = await tx.delete(twoFactor).where(eq(twoFactor.userId, userId)).returning({ id: twoFactor.id });
        return removed.length > 0;
      });
    },
  };
}

const identifierOf = (token: string) => prefix + sha256(token);
