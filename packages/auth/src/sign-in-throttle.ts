import { sha256 } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { session, signInAttempt, user } from "@towpath/db/schema";
import { and, eq, inArray, lt, sql } from "drizzle-orm";

/**
 * Throttles password guessing for one account. Each limit allows some failures, then imposes a wait that doubles with
 * each further failure. No account is ever locked, and attempts during a wait don't extend it.
 *
 * A single address waits early and long. The limit of all addresses together allows more failures and waits of at most
 * a minute: otherwise an attacker could lock the owner out. It doesn't apply to addresses with a session of the
 * account.
 */
const limits = {
  address: { freeFailures: 5, maxWaitSeconds: 900 },
  account: { freeFailures: 20, maxWaitSeconds: 60 },
} as const;
type Limit = keyof typeof limits;

/** Failures expire after a day without another one. */
const expireAfter = sql`interval '1 day'`;

/** A time in the past. Not `now()`, which the column may round up. */
const noWait = sql`to_timestamp(0)`;

/** An attempt that may proceed. It counts as a failure unless one of these is called. */
export type Attempt = {
  /** The password was right. */
  succeeded(): Promise<void>;
  /** The password was never checked. */
  withdrawn(): Promise<void>;
};

/**
 * Counts an attempt to sign in to an account, whether the account exists or not. `address`: the client's, normalized;
 * null when unknown. Returns a number when the attempt is rejected: seconds to wait before the next one.
 */
export async function beginAttempt(
  db: Database,
  call: { readonly email: string; readonly address: string | null },
): Promise<Attempt | number> {
  const email = call.email.trim().toLowerCase();
  const addressKey = keyOf("address", `${email}\n${call.address ?? ""}`);
  const accountKey = keyOf("account", email);
  const keys = (await isKnownAddress(db, email, call.address)) ? [addressKey] : [accountKey, addressKey];
  if (!(await count(db, keys))) return waitOf(db, keys);
  return {
    async succeeded() {
      await db.delete(signInAttempt).where(eq(signInAttempt.key, addressKey));
      await takeBack(db, keys);
      await deleteOld(db);
    },
    withdrawn: () => takeBack(db, keys),
  };
}

/**
 * Counts the attempt for all keys; for none, and returns false, while one of them must wait. Runs before the password
 * check, so that concurrent guesses gain nothing.
 */
function count(db: Database, keys: readonly string[]): Promise<boolean> {
  return db.transaction(async (tx) => {
    for (const key of keys) {
      await tx
        .insert(signInAttempt)
        .values({ key, failures: 0, retryAt: noWait, updatedAt: sql`now()` })
        // Locks an existing row, so that `takeBack` can't delete it meanwhile.
        .onConflictDoUpdate({ target: signInAttempt.key, set: { key: sql`excluded.key` } });
    }
    const rows = await tx
      .select({ key: signInAttempt.key, mayTry: sql<boolean>`${signInAttempt.retryAt} <= now()` })
      .from(signInAttempt)
      .where(inArray(signInAttempt.key, [...keys]))
      .orderBy(signInAttempt.key)
      .for("update");
    if (!rows.every(({ mayTry }) => mayTry)) {
      await tx.delete(signInAttempt).where(unused(keys));
      return false;
    }
    for (const key of keys) {
      const { freeFailures, maxWaitSeconds } = limits[limitOf(key)];
      const failures = sql`CASE WHEN ${signInAttempt.updatedAt} < now() - ${expireAfter} THEN 1 ELSE ${signInAttempt.failures} + 1 END`;
      // 2^20 s exceeds every maximum; a larger exponent could overflow.
      const wait = sql`least(power(2, least((${failures}) - ${freeFailures}, 20)), ${maxWaitSeconds})`;
      await tx
        .update(signInAttempt)
        .set({
          failures,
          retryAt: sql`CASE WHEN (${failures}) < ${freeFailures} THEN ${noWait} ELSE now() + make_interval(secs => ${wait}) END`,
          updatedAt: sql`now()`,
        })
        .where(eq(signInAttempt.key, key));
    }
    return true;
  });
}

/** Rows without failures. Deleted, because clients can create any number of keys. */
const unused = (keys: readonly string[]) => and(inArray(signInAttempt.key, [...keys]), eq(signInAttempt.failures, 0));

/** Row by row: a single statement could lock them in another order than `count`, and deadlock. */
async function takeBack(db: Database, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await db
      .update(signInAttempt)
      .set({ failures: sql`greatest(${signInAttempt.failures} - 1, 0)`, retryAt: noWait })
      .where(eq(signInAttempt.key, key));
    await db.delete(signInAttempt).where(unused([key]));
  }
}

/** Skips locked rows. */
async function deleteOld(db: Database): Promise<void> {
  const old = db
    .select({ key: signInAttempt.key })
    .from(signInAttempt)
    .where(lt(signInAttempt.updatedAt, sql`now() - ${expireAfter}`))
    .for("update", { skipLocked: true });
  await db.delete(signInAttempt).where(inArray(signInAttempt.key, old));
}

async function waitOf(db: Database, keys: readonly string[]): Promise<number> {
  const [row] = await db
    .select({ seconds: sql<string | null>`ceil(extract(epoch FROM max(${signInAttempt.retryAt}) - now()))` })
    .from(signInAttempt)
    .where(inArray(signInAttempt.key, [...keys]));
  return Math.max(1, Number(row?.seconds ?? 1));
}

/** Whether the account has a session from that address. */
async function isKnownAddress(db: Database, email: string, address: string | null): Promise<boolean> {
  if (address === null) return false;
  const [row] = await db
    .select({ id: session.id })
    .from(session)
    .innerJoin(user, eq(user.id, session.userId))
    .where(and(eq(user.email, email), eq(session.ipAddress, address)))
    .limit(1);
  return row !== undefined;
}

const keyOf = (limit: Limit, text: string) => `${limit}:${sha256(text)}`;
const limitOf = (key: string): Limit => (key.startsWith("address:") ? "address" : "account");
