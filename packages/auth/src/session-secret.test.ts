import { randomUUID } from "node:crypto";
import { verification } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { createOneTimeState, takeOneTimeState } from "./one-time-state.ts";
import { deleteSessionSecret, readSessionSecret, storeSessionSecret } from "./session-secret.ts";

const database = openTestDatabase();

const root = "a root secret that is long enough here";
const soon = () => new Date(Date.now() + 60_000);
const name = () => ({ secret: root, sessionId: randomUUID(), name: "github" });
const store = (called: ReturnType<typeof name>, value: string, expiresAt = soon()) =>
  storeSessionSecret(database.db, { ...called, newId: randomUUID, value, expiresAt });

test("GH-1 a session's secret is stored, replaced and deleted", async () => {
  const mine = name();
  expect(await readSessionSecret(database.db, mine)).toBeNull();
  await store(mine, "first");
  await store(mine, "second ✓");
  expect(await readSessionSecret(database.db, mine)).toBe("second ✓");
  await deleteSessionSecret(database.db, mine);
  expect(await readSessionSecret(database.db, mine)).toBeNull();
});

test("GH-1 a secret can be read only with its session, its name and its key, until it expires", async () => {
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

test("GH-1 a secret copied to another session's row, or changed, can't be decrypted", async () => {
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

test("GH-1 a secret stored by an earlier version can still be read", async () => {
  const root = "a root secret for tests, of 32 characters or more";
  const identifier = `secret:github-user-token:echo:s1`;
  const value = "1jmq_QqrdVBwNmii.pm2ciO0.lYGcr7GFuyxDTvNg6aEWyg";
  await database.db.insert(verification).values({ id: randomUUID(), identifier, value, expiresAt: soon() });
  const name = { secret: root, sessionId: "s1", name: "github-user-token:echo" };
  expect(await readSessionSecret(database.db, name)).toBe("ghu_x");
});

test("stored rows contain neither the secret nor the state", async () => {
  const mine = name();
  await store(mine, "in clear");
  const state = await createOneTimeState(database.db, { newId: randomUUID, sessionId: "s", data: 1, ttlSeconds: 60 });
  const rows = JSON.stringify(await database.db.select().from(verification));
  expect(rows).not.toContain("in clear");
  expect(rows).not.toContain(state);
});

test("a state works once, even for concurrent requests", async () => {
  const call = { newId: randomUUID, sessionId: "session", data: { purpose: "connect" }, ttlSeconds: 60 };
  const token = await createOneTimeState(database.db, call);
  const results = await Promise.all(Array.from({ length: 8 }, () => takeOneTimeState(database.db, token, "session")));
  expect(results.filter((result) => result !== null)).toEqual([{ purpose: "connect" }]);
});
