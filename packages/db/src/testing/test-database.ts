import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type DatabaseClient, migrationsDirectory, openDatabase } from "../client.ts";

export const templateName = "towpath_template";

export type TestDatabase = DatabaseClient & { readonly url: string };

function urlOf(database: string): string {
  const base = process.env.TOWPATH_TEST_DATABASE_URL;
  if (!base)
    throw new Error(
      "TOWPATH_TEST_DATABASE_URL is not set. Run the test with vitest, whose global set-up starts PostgreSQL.",
    );
  return base.replace(/\/[^/?]*\?/, `/${database}?`);
}

// Files of a worker share their modules (vitest's `isolate: false`). A connection costs PostgreSQL as much as a clone.
let administrator: pg.Pool | undefined;

async function administer(use: (client: pg.PoolClient) => Promise<unknown>): Promise<void> {
  administrator ??= new pg.Pool({
    connectionString: urlOf("postgres"),
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  })
    // PostgreSQL ends before the worker.
    .on("error", () => {});
  const client = await administrator.connect();
  try {
    await use(client);
  } finally {
    client.release();
  }
}

/**
 * Pools that end don't wait for their connections to close: dropping the database at once would end some of them by an
 * error that nothing catches.
 */
async function drop(client: pg.PoolClient, name: string): Promise<void> {
  const isUsed = "SELECT 1 FROM pg_stat_activity WHERE datname = $1";
  for (let tries = 0; tries < 20 && (await client.query(isUsed, [name])).rowCount !== 0; tries += 1) await sleep(5);
  await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
}

/**
 * Creates a migrated database for one test file, cloned from the template in about 20 ms. `close` drops it. `isEmpty`: one
 * without tables.
 */
export async function createTestDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const template = isEmpty ? "template0" : templateName;
  await administer((each) => each.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`));
  const client = openDatabase(urlOf(name));
  // Those that are left when the database is dropped fail.
  client.pool.on("connect", (connection) => connection.on("error", () => {}));
  return {
    ...client,
    url: urlOf(name),
    close: async () => {
      await client.close();
      await administer((each) => drop(each, name));
    },
  };
}

/**
 * A database for the tests of a file, or with `fresh` for each of them. Call it at the top of the file: the database is there
 * before later hooks, and is dropped after them.
 */
export function openTestDatabase({ fresh = false } = {}): TestDatabase {
  let opened: TestDatabase | undefined;
  const [before, after] = fresh ? [beforeEach, afterEach] : [beforeAll, afterAll];
  before(async () => {
    opened = await createTestDatabase();
  });
  after(() => opened?.close());
  const current = () => {
    if (!opened) throw new Error("The database is open in hooks and tests only.");
    return opened;
  };
  return {
    get db() {
      return current().db;
    },
    get pool() {
      return current().pool;
    },
    get url() {
      return current().url;
    },
    close: () => current().close(),
  };
}

/** Empties a test's database and migrates it only up to `last` (a migration's name), as an old version left it. */
export async function migrateOnlyTo({ db, pool }: TestDatabase, last: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "tp-migrations-"));
  try {
    await cp(migrationsDirectory, directory, { recursive: true });
    const path = join(directory, "meta", "_journal.json");
    const journal: { entries: { tag: string }[] } = JSON.parse(await readFile(path, "utf8"));
    journal.entries.splice(journal.entries.findIndex(({ tag }) => tag === last) + 1);
    await writeFile(path, JSON.stringify(journal));
    await pool.query("DROP SCHEMA public CASCADE; DROP SCHEMA drizzle CASCADE; CREATE SCHEMA public");
    await migrate(db, { migrationsFolder: directory });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Sets the clock of a database back, for connections that are opened later: of what asks for `clock_timestamp()`. */
export async function setClockBack(pool: pg.Pool, seconds: number): Promise<void> {
  const { rows } = await pool.query("SELECT current_database() AS name");
  await pool.query(`CREATE SCHEMA IF NOT EXISTS off;
    CREATE OR REPLACE FUNCTION off.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
      $$ SELECT pg_catalog.clock_timestamp() - interval '${seconds} s' $$;
    ALTER DATABASE ${rows[0].name} SET search_path = off, pg_catalog, public`);
}
