import type { Database } from "@towpath/db";
import { session } from "@towpath/db/schema";
import { and, desc, eq, gt, lt, ne, or } from "drizzle-orm";

/** When sessions end, in seconds. */
export type SessionLimits = {
  /** After the last request. */
  readonly idleSeconds: number;
  /** After the sign-in, even if it is in use. */
  readonly maxSeconds: number;
};

/** One of a person's sessions. */
export type SessionView = {
  readonly id: string;
  readonly isCurrent: boolean;
  readonly userAgent: string | null;
  /** Of the last request, as our HTTP server saw it. */
  readonly ipAddress: string | null;
  readonly signedInAt: string;
  /** Give or take a minute. */
  readonly lastSeenAt: string;
  /** When it ends at the latest. */
  readonly expiresAt: string;
};

/** Precision of `lastSeenAt`: at most one write a minute for each session. */
const seenEveryMs = 60_000;

type SeenSession = { readonly id: string; readonly updatedAt: Date };

/** Records that a session is in use. Returns false, and ends it, when it was idle for too long. */
export async function recordUse(
  db: Database,
  seen: SeenSession,
  call: { readonly limits: SessionLimits; readonly address: string | null },
): Promise<boolean> {
  const now = Date.now();
  const idleMs = now - seen.updatedAt.getTime();
  if (idleMs > call.limits.idleSeconds * 1000) {
    // Unless another request has just been recorded.
    await db.delete(session).where(and(eq(session.id, seen.id), eq(session.updatedAt, seen.updatedAt)));
    return false;
  }
  if (idleMs > Math.min(seenEveryMs, call.limits.idleSeconds * 100)) {
    const isOlder = lt(session.updatedAt, new Date(now));
    const change = { updatedAt: new Date(now), ...(call.address ? { ipAddress: call.address } : {}) };
    await db
      .update(session)
      .set(change)
      .where(and(eq(session.id, seen.id), isOlder));
  }
  return true;
}

type Own = { readonly userId: string; readonly sessionId: string };

/** The user's sessions that have not ended: the current one first, then the most recently used. */
export async function listSessions(db: Database, own: Own, limits: SessionLimits): Promise<readonly SessionView[]> {
  const now = Date.now();
  const inUse = or(eq(session.id, own.sessionId), gt(session.updatedAt, new Date(now - limits.idleSeconds * 1000)));
  const rows = await db
    .select()
    .from(session)
    .where(and(eq(session.userId, own.userId), gt(session.expiresAt, new Date(now)), inUse))
    .orderBy(desc(session.updatedAt), desc(session.id))
    .limit(200);
  const views = rows.map((row) => ({
    id: row.id,
    isCurrent: row.id === own.sessionId,
    userAgent: row.userAgent || null,
    ipAddress: row.ipAddress || null,
    signedInAt: row.createdAt.toISOString(),
    lastSeenAt: row.updatedAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
  }));
  return views.toSorted((one, other) => Number(other.isCurrent) - Number(one.isCurrent));
}

/** Ends a session of the user. Returns false if there is none with this id, or it belongs to somebody else. */
export async function endSession(db: Database, userId: string, sessionId: string): Promise<boolean> {
  const mine = and(eq(session.userId, userId), eq(session.id, sessionId));
  return (await db.delete(session).where(mine).returning({ id: session.id })).length > 0;
}

/** Ends all sessions of the user but the current one; returns their number. */
export async function endOtherSessions(db: Database, own: Own): Promise<number> {
  const others = and(eq(session.userId, own.userId), ne(session.id, own.sessionId));
  return (await db.delete(session).where(others).returning({ id: session.id })).length;
}
