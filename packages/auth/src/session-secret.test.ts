import { randomUUID } from "node:crypto";
import { verification } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOneTimeState, takeOneTimeState } from "./one-time-state.ts";
import { deleteSessionSecret, readSessionSecret, storeSessionSecret } from "./session-secret.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database.close());

const root = "a root secret that is long enough here";
const soon = () => new Date(Date.now() + 60_000);
const name = () => ({ secret: root, sessionId: randomUUID(), name: "github" });
const store = (called: ReturnType<typeof name>, value: string, expiresAt = soon()) =>
  storeSessionSecret(database.db, { ...called, newId: randomUUID, value, expiresAt });

test("GH-1 a session's secret is kept, replaced, and forgotten", async () => {
  const mine = name();
  expect(await readSessionSecret(database.db, mine)).toBeNull();
  await store(mine, "first");
  await store(mine, "second ✓");
  expect(await readSessionSecret(database.db, mine)).toBe("second ✓");
  await deleteSessionSecret(database.db, mine);
  expect(await readSessionSecret(database.db, mine)).toBeNull();
});

test("GH-1 a secret opens only for its session, its name, its key and its time", async () => {
  const mine = name();
  await store(mine, "mine");
  for (const other of [
    { sessionId: randomUUID() },
    { name: "other" },
    { secret: "another root secret, just as long" },
  ]) {
    expect(await readSessionSecret(database.db, { ...mine, ...other })).toBeNull();
  }
  const late = name();
  await store(late, "late", new Date(Date.now() - 1));
  expect(await readSessionSecret(database.db, late)).toBeNull();
});

test("GH-1 a row that was moved to another session, or changed, does not open", async () => {
  const [mine, other] = [name(), name()];
  await store(mine, "mine");
  await store(other, "other");
  await database.pool.query(
    `UPDATE verification SET value = (SELECT value FROM verification WHERE identifier = $1) WHERE identifier = $2`,
    [`secret:github:${mine.sessionId}`, `secret:github:${other.sessionId}`],
  );
  expect(await readSessionSecret(database.db, other)).toBeNull();
  await database.pool.query(`UPDATE verification SET value = 'a.b' WHERE identifier = $1`, [
    `secret:github:${mine.sessionId}`,
  ]);
  expect(await readSessionSecret(database.db, mine)).toBeNull();
});

test("GH-1 a secret that an earlier version stored stays readable", async () => {
  const root = "a root secret for tests, of 32 characters or more";
  const identifier = `secret:github-user-token:echo:s1`;
  const value = "1jmq_QqrdVBwNmii.pm2ciO0.lYGcr7GFuyxDTvNg6aEWyg";
  await database.db.insert(verification).values({ id: randomUUID(), identifier, value, expiresAt: soon() });
  const name = { secret: root, sessionId: "s1", name: "github-user-token:echo" };
  expect(await readSessionSecret(database.db, name)).toBe("ghu_x");
});

test("what is stored holds neither the secret nor the state", async () => {
  const mine = name();
  await store(mine, "in clear");
  const state = await createOneTimeState(database.db, { newId: randomUUID, sessionId: "s", data: 1, ttlSeconds: 60 });
  const rows = JSON.stringify(await database.db.select().from(verification));
  expect(rows).not.toContain("in clear");
  expect(rows).not.toContain(state);
});

test("a state works once, however many ask at the same moment", async () => {
  const call = { newId: randomUUID, sessionId: "session", data: { purpose: "connect" }, ttlSeconds: 60 };
  const token = await createOneTimeState(database.db, call);
  const answers = await Promise.all(Array.from({ length: 8 }, () => takeOneTimeState(database.db, token, "session")));
  expect(answers.filter((answer) => answer !== null)).toEqual([{ purpose: "connect" }]);
});
