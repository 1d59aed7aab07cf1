import { fileURLToPath } from "node:url";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";
import { readAppliedSchema, recordRelease, requireKnownSchema, thisRelease } from "./release.ts";
import * as schema from "./schema/index.ts";

export { waitForDatabase } from "./wait-for-database.ts";

/** Drizzle on a pool. */
export type Database = ReturnType<typeof drizzle<typeof schema, pg.Pool>>;
/** What `db.transaction` passes to its callback. */
export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

export type DatabaseClient = {
  readonly db: Database;
  /** The same pool, for code that writes its own SQL (logs, gateway). */
  readonly pool: pg.Pool;
  close(): Promise<void>;
};

const connectionTimeoutMillis = 15_000;

/**
 * Opens a pool; connects on first use. `url` may name a unix socket:
 * `postgresql://user@/database?host=/directory&port=5432`.
 */
export function openDatabase(
  url: string,
  { maxConnections = 10 }: { readonly maxConnections?: number } = {},
): DatabaseClient {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    idleTimeoutMillis: 30_000,
    // When the database drops packets or the pool is exhausted, fail instead of waiting forever.
    connectionTimeoutMillis,
  });
  // An idle connection broke. The pool replaces it, and the next query reports a lasting problem.
  pool.on("error", () => {});
  // One that breaks between two queries of a transaction: without a listener the process would end.
  pool.on("connect", (connection) => connection.on("error", () => {}));
  return { db: drizzle(pool, { schema, casing: "snake_case" }), pool, close: () => pool.end() };
}

export const migrationsDirectory = fileURLToPath(new URL("../migrations", import.meta.url));

/** The result of a migration: `from` is the release that used the database before; null for a new one. */
export type Migrated = { readonly from: string | null; readonly to: string; readonly applied: number };

/**
 * Migrates the schema. If several processes start at once, the first one migrates and the others wait.
 * @throws NewerSchema when a newer release has migrated it
 */
export async function migrateDatabase(url: string): Promise<Migrated> {
  const { db, pool, close } = openDatabase(url, { maxConnections: 2 });
  const lock = await pool.connect();
  try {
    await lock.query("SELECT pg_advisory_lock(hashtext('towpath_migrate'))");
    const before = await requireKnownSchema(lock);
    await requireExtensions(lock);
    await migrate(db, { migrationsFolder: migrationsDirectory });
    await lock.query(
      "SELECT towpath_ensure_log_partitions(day::date) FROM generate_series(now(), now() + interval '2 days', interval '1 day') day",
    );
    const to = thisRelease();
    if (before?.release !== to) await recordRelease(lock, to).catch(unlessNotOwner);
    const after = await readAppliedSchema(lock);
    const applied = (after?.migrations ?? 0) - (before?.migrations ?? 0);
    return { from: before && (before.release ?? "an earlier release"), to, applied };
  } finally {
    lock.release(true);
    await close();
  }
}

/** Another user migrated the database: its release then stays without a name. */
function unlessNotOwner(error: unknown): void {
  if (!(error instanceof pg.DatabaseError) || error.code !== "42501") throw error;
}

/** Both come with PostgreSQL and are trusted: an owner of the database may create them without being a superuser. */
const extensions = ["pg_trgm", "btree_gin"] as const;

/** @throws Error that says what is missing, and how to get it */
export async function requireExtensions(client: Pick<pg.PoolClient, "query">): Promise<void> {
  for (const extension of extensions) {
    try {
      await client.query(`CREATE EXTENSION IF NOT EXISTS ${extension}`);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error;
      throw new Error(
        `Towpath's database needs the PostgreSQL extension ${extension}, and creating it failed: ${error.message}. ` +
          `Install PostgreSQL's contrib modules, and let the user of DATABASE_URL create extensions ` +
          `(GRANT CREATE ON DATABASE).`,
        { cause: error },
      );
    }
  }
}
