import { randomToken, sha256 } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { verification } from "@towpath/db/schema";
import { and, eq, gt, like, lt } from "drizzle-orm";

const prefix = "state:";

/**
 * Remembers something until the browser comes back from another site, and returns the text that proves it is the same
 * round trip. The text is 256 random bits, of which only the hash is stored: it cannot be forged, works once, for one
 * session, until it expires.
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
 * What was remembered, and forgets it: null for a text that is unknown, used, expired or of another session. It is
 * used up even when another session brings it, so a stolen one is worth nothing afterwards.
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
