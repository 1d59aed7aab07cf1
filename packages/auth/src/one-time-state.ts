import { randomToken, sha256 } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { verification } from "@towpath/db/schema";
import { and, eq, gt, like, lt } from "drizzle-orm";

const prefix = "state:";

/**
 * Stores data while the browser visits another site, and returns the `state` parameter that the browser must bring
 * back: 256 random bits, of which only the hash is stored. It works once, for one session, until it expires.
 */
export async function createOneTimeState(
  db: Database,
  state: {
    readonly newId: () => string;
    readonly sessionId: string;
    readonly data: unknown;
    readonly ttlSeconds: number;
  },
): Promise<string> {
  const token = randomToken();
  const now = Date.now();
  await db
    .delete(verification)
    .where(and(like(verification.identifier, `${prefix}%`), lt(verification.expiresAt, new Date(now))));
  await db.insert(verification).values({
    id: state.newId(),
    identifier: identifierOf(token),
    value: JSON.stringify({ sessionId: state.sessionId, data: state.data }),
    expiresAt: new Date(now + state.ttlSeconds * 1000),
  });
  return token;
}

/**
 * Returns the stored data and deletes it; null if the state is unknown, used, expired or belongs to another session. A
 * state is used up even if another session presents it, so that a stolen one can't be retried.
 */
export async function takeOneTimeState(db: Database, token: string, sessionId: string): Promise<unknown> {
  const [row] = await db
    .delete(verification)
    .where(and(eq(verification.identifier, identifierOf(token)), gt(verification.expiresAt, new Date())))
    .returning({ value: verification.value });
  if (!row) return null;
  const stored: unknown = JSON.parse(row.value);
  if (typeof stored !== "object" || stored === null || !("sessionId" in stored) || !("data" in stored)) return null;
  return stored.sessionId === sessionId ? stored.data : null;
}

const identifierOf = (token: string) => prefix + sha256(token);
