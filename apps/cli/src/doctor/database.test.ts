import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { recordRelease, thisRelease } from "@towpath/db/release";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { freePort } from "@towpath/role/testing";
import { checkDatabase, createSecretBox } from "@towpath/secrets";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { hasPgBouncer, startPooler } from "../../../../tests/instance/pooler.ts";
import { database as examineDatabase } from "./checks/database.ts";
import { pooler } from "./checks/pooler.ts";
import { secrets } from "./checks/secrets.ts";
import { emptyDirectory, examine } from "./testing/facts-of.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.close());

const here = () => ({ DATABASE_URL: database.url });

test("OPS-6 doctor: a database that is as it should be is ok in all parts; the embedded one is not needed", async () => {
  const [version, schema, rights, ...others] = await examine(examineDatabase, here());
  expect(version).toMatchObject({
    name: "database",
    state: "ok",
    detail: expect.stringMatching(/^PostgreSQL \d\d\.\d+$/),
  });
  expect(schema).toMatchObject({ name: "schema", state: "ok" });
  expect(rights).toMatchObject({ name: "rights in the database", state: "ok" });
  expect(others).toEqual([]);
  expect(await examine(examineDatabase, {})).toMatchObject([{ state: "not-needed" }]);
});

test("OPS-6 doctor: a database that refuses connections, or the user, is reported without the password", async () => {
  const dead = `postgresql://ada:very-secret@127.0.0.1:${await freePort()}/towpath`;
  const [refused] = await examine(examineDatabase, { DATABASE_URL: dead });
  expect(refused).toMatchObject({
    state: "fix",
    detail: expect.stringContaining("ECONNREFUSED"),
    remedy: expect.stringContaining("DATABASE_URL"),
  });
  expect(JSON.stringify(refused)).not.toContain("very-secret");
  const nobody = database.url.replace(/\/\/[^@/]*@/, "//nobody@");
  expect(await examine(examineDatabase, { DATABASE_URL: nobody, DATABASE_DIRECT_URL: nobody })).toMatchObject([
    {
      state: "fix",
      detail: expect.stringContaining("nobody"),
      remedy: expect.stringContaining("DATABASE_DIRECT_URL"),
    },
  ]);
});

test("OPS-6 OPS-3 doctor: a database that a newer release has used is reported with both names", async () => {
  await recordRelease(database.pool, "9.9.0 (commit f00)");
  await database.pool.query(
    "INSERT INTO drizzle.__drizzle_migrations (hash, created_at) SELECT 'x', max(created_at) + 1 FROM drizzle.__drizzle_migrations",
  );
  const [, schema] = await examine(examineDatabase, here());
  expect(schema).toEqual({
    name: "schema",
    state: "fix",
    detail: `of 9.9.0 (commit f00), which is newer than ${thisRelease()}`,
    remedy: expect.stringContaining("back-up"),
  });
});

test("OPS-6 doctor: a user without rights is reported with the statements that grant them", async () => {
  const role = `doctor_${randomBytes(4).toString("hex")}`;
  await database.pool.query(`CREATE ROLE ${role} LOGIN`);
  onTestFinished(() => dropRole(role));
  await database.pool.query("CREATE TABLE others (id int)");
  const as = { DATABASE_URL: database.url.replace(/\/\/[^@/]*@/, `//${role}@`) };
  const [, schema, rights] = await examine(examineDatabase, as);
  expect(schema).toMatchObject({
    state: "fix",
    detail: expect.stringContaining("permission denied for schema drizzle"),
  });
  expect(rights).toMatchObject({ state: "fix", detail: expect.stringContaining(`${role} may not create tables`) });
  const { remedy = "" } = rights as { remedy?: string };
  expect(remedy).toMatch(/^GRANT CREATE ON DATABASE \w+ TO \w+; GRANT CREATE ON SCHEMA public TO \w+; GRANT SELECT, /);
  await database.pool.query(
    `${remedy} GRANT USAGE ON SCHEMA drizzle TO ${role}; GRANT SELECT ON ALL TABLES IN SCHEMA drizzle TO ${role}`,
  );
  expect((await examine(examineDatabase, as)).map(({ state }) => state)).toEqual(["ok", "ok", "ok"]);
});

/** After the test's database, in which it has rights. */
async function dropRole(role: string): Promise<void> {
  const other = await createTestDatabase();
  await other.pool.query(`DROP ROLE ${role}`).catch(() => {});
  await other.close();
}

test("OPS-6 KEY-2 doctor: a secret that doesn't open what the database has is reported, and nothing is written", async () => {
  const [right, wrong] = ["r".repeat(32), "w".repeat(32)];
  const keys = async () => (await database.pool.query("SELECT count(*)::int AS n FROM master_key")).rows[0].n;
  expect(await examine(secrets, { ...here(), TOWPATH_SECRET: right })).toMatchObject([{ state: "ok" }]);
  expect(await keys()).toBe(0);
  await checkDatabase(database.pool, createSecretBox({ current: right, previous: [] }).masterKeys);
  expect(await examine(secrets, { ...here(), TOWPATH_SECRET: right })).toMatchObject([{ name: "secret", state: "ok" }]);
  expect(await examine(secrets, { ...here(), TOWPATH_SECRET: wrong })).toMatchObject([
    {
      name: "secret",
      state: "fix",
      detail: expect.stringContaining("sealed with key"),
      remedy: expect.stringContaining("TOWPATH_PREVIOUS_SECRETS"),
    },
  ]);
  expect(await examine(secrets, { ...here(), TOWPATH_SECRET: "short" })).toMatchObject([{ state: "fix" }]);
  expect(await keys()).toBe(1);
});

test("OPS-6 doctor: notifications arrive without a pooler", async () => {
  expect(await examine(pooler, here())).toMatchObject([{ name: "pooler", state: "ok" }]);
  expect(await examine(pooler, {})).toMatchObject([{ state: "not-needed" }]);
});

test.runIf(hasPgBouncer)("OPS-6 doctor: a pooler in transaction mode needs the database's own address", async () => {
  const started = await startPooler(join(await emptyDirectory(), "b"), database.url);
  onTestFinished(() => started.stop());
  expect(await examine(pooler, { DATABASE_URL: started.url })).toMatchObject([
    {
      state: "fix",
      detail: expect.stringContaining("transaction mode"),
      remedy: expect.stringContaining("DATABASE_DIRECT_URL"),
    },
  ]);
  const both = { DATABASE_URL: started.url, DATABASE_DIRECT_URL: database.url };
  expect(await examine(pooler, both)).toMatchObject([{ state: "ok" }]);
  await started.stop();
  expect(await examine(pooler, both)).toMatchObject([
    { state: "fix", remedy: expect.stringContaining("the pooler runs") },
  ]);
});
