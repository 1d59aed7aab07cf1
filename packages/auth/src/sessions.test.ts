import { session, user } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { endOtherSessions, endSession, listSessions, recordUse } from "./sessions.ts";

const database = openTestDatabase();

const limits = { idleSeconds: 3600, maxSeconds: 7200 };
const hour = 3_600_000;

async function newUser(): Promise<string> {
  const id = crypto.randomUUID();
  await database.db.insert(user).values({ id, name: "Ada", email: `${id}@example.com` });
  return id;
}

async function newSession(userId: string, seenAgoMs = 0, more: Partial<typeof session.$inferInsert> = {}) {
  const id = crypto.randomUUID();
  const updatedAt = new Date(Date.now() - seenAgoMs);
  const expiresAt = new Date(Date.now() + 2 * hour);
  await database.db.insert(session).values({ id, userId, token: id, expiresAt, updatedAt, ...more });
  return { id, updatedAt };
}
const stored = async (id: string) => (await database.db.select().from(session).where(eq(session.id, id)))[0];

test("ORG-7 a session in use is recorded once a minute, with the address; one that was idle for too long ends", async () => {
  const userId = await newUser();
  const call = { limits, address: "203.0.113.9" };
  const fresh = await newSession(userId, 1000);
  expect(await recordUse(database.db, fresh, call)).toBe(true);
  expect((await stored(fresh.id))?.updatedAt).toEqual(fresh.updatedAt);
  const used = await newSession(userId, 61_000);
  expect(await recordUse(database.db, used, call)).toBe(true);
  const now = await stored(used.id);
  expect(now?.ipAddress).toBe("203.0.113.9");
  expect(now?.updatedAt.getTime()).toBeGreaterThan(used.updatedAt.getTime());
  const idle = await newSession(userId, hour + 1000);
  expect(await recordUse(database.db, idle, call)).toBe(false);
  expect(await stored(idle.id)).toBeUndefined();
  // Another request has been seen since this one was read.
  const busy = await newSession(userId, 0);
  expect(await recordUse(database.db, { id: busy.id, updatedAt: new Date(Date.now() - 2 * hour) }, call)).toBe(false);
  expect(await stored(busy.id)).toBeDefined();
});

test("ORG-7 the list has one's own sessions that have not ended, the current one first; others can't be ended", async () => {
  const [userId, otherId] = [await newUser(), await newUser()];
  const current = await newSession(userId, 30_000, { userAgent: "Mozilla/5.0", ipAddress: "192.0.2.1" });
  const newest = await newSession(userId, 1000);
  const theirs = await newSession(otherId);
  await newSession(userId, hour + 1000);
  await newSession(userId, 0, { expiresAt: new Date(Date.now() - 1000) });
  const own = { userId, sessionId: current.id };
  const list = await listSessions(database.db, own, limits);
  expect(list.map(({ id, isCurrent }) => [id, isCurrent])).toEqual([
    [current.id, true],
    [newest.id, false],
  ]);
  expect(list[0]).toMatchObject({ userAgent: "Mozilla/5.0", ipAddress: "192.0.2.1" });
  expect(await endSession(database.db, userId, theirs.id)).toBe(false);
  expect(await stored(theirs.id)).toBeDefined();
  expect(await endSession(database.db, userId, newest.id)).toBe(true);
  expect(await stored(newest.id)).toBeUndefined();
  expect(await endOtherSessions(database.db, own)).toBe(2);
  expect((await listSessions(database.db, own, limits)).map(({ id }) => id)).toEqual([current.id]);
  expect(await stored(theirs.id)).toBeDefined();
});
