import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrateDatabase, openDatabase } from "./client.ts";
import { openTestDatabase } from "./testing/test-database.ts";

const database = openTestDatabase();
const name = `test_${randomBytes(6).toString("hex")}`;
const role = `${name}_role`;
beforeAll(async () => {
  await database.pool.query(`CREATE ROLE ${role} LOGIN`);
  await database.pool.query(`CREATE DATABASE ${name} TEMPLATE template0`);
});
afterAll(async () => {
  await database.pool.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await database.pool.query(`DROP ROLE ${role}`);
});

/** The new database, as its superuser or as a role that may not create extensions. */
function urlOf(user?: string): string {
  const url = new URL(database.url.replace(/\/[^/?]*\?/, `/${name}?`).replace("@/", "@socket/"));
  if (user) url.username = user;
  return url.href.replace("@socket/", "@/");
}

test("OPS-1 a database that refuses an extension stops the start with a text that names it and the remedy", async () => {
  const refusal = await migrateDatabase(urlOf(role)).catch((error: unknown) => String(error));
  expect(refusal).toMatch(/needs the PostgreSQL extension pg_trgm.*permission denied.*GRANT CREATE ON DATABASE/s);
});

test("OPS-1 a role that is no superuser migrates, if it may create in the database", async () => {
  const { pool, close } = openDatabase(urlOf());
  try {
    await pool.query(`GRANT CREATE ON DATABASE ${name} TO ${role}; ALTER SCHEMA public OWNER TO ${role}`);
    await migrateDatabase(urlOf(role));
    const { rows } = await pool.query("SELECT to_regclass('request_log') IS NOT NULL AS migrated");
    expect(rows).toEqual([{ migrated: true }]);
  } finally {
    await close();
  }
});

test("OPS-3 a connection that breaks between two queries of a transaction ends no process, and the next query says so", async () => {
  const { pool, close } = openDatabase(database.url, { maxConnections: 1 });
  const connection = await pool.connect();
  await connection.query("BEGIN");
  const { rows } = await connection.query("SELECT pg_backend_pid() AS pid");
  const ended = new Promise((resolve) => connection.once("end", resolve));
  await database.pool.query("SELECT pg_terminate_backend($1)", [rows[0].pid]);
  // An error that nothing handles fails the run of the tests.
  await ended;
  await expect(connection.query("SELECT 1")).rejects.toThrow();
  connection.release(true);
  expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  await close();
});
