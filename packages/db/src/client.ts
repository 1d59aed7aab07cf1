import type { Socket } from "node:net";
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

type DatabaseOptions = {
  readonly maxConnections?: number;
  /**
   * Ends a connection in use without an answer for this long, milliseconds: longer than any statement takes. Default: what
   * TCP needs to find that a machine is lost, which may be a quarter of an hour.
   */
  readonly silenceMs?: number;
};

/**
 * Opens a pool; connects on first use. `url` may name a unix socket:
 * `postgresql://user@/database?host=/directory&port=5432`.
 */
export function openDatabase(
  url: string,
  { maxConnections = 10, silenceMs = 0 }: DatabaseOptions = {},
): DatabaseClient {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    idleTimeoutMillis: 30_000,
    // When the database drops packets or the pool is exhausted, fail instead of waiting forever.
    connectionTimeoutMillis,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // An idle connection broke. The pool replaces it, and the next query reports a lasting problem.
  pool.on("error", () => {});
  // One that breaks between two queries of a transaction: without a listener the process would end.
  pool.on("connect", (connection) => connection.on("error", () => {}));
  endBroken(pool, silenceMs);
  return { db: drizzle(pool, { schema, casing: "snake_case" }), pool, close: () => pool.end() };
}

/**
 * Ends connections in use that are silent for too long, and frees the places of those that ended: Drizzle doesn't give one
 * back that breaks before its transaction has begun.
 */
function endBroken(pool: pg.Pool, silenceMs: number): void {
  const inUse = new Set<pg.PoolClient>();
  pool.on("connect", (client) => {
    const stream = streamOf(client);
    stream.on("timeout", () => stream.destroy(new Error(`The database has not answered for ${silenceMs / 1000} s.`)));
    client.once("end", () => {
      if (!inUse.has(client)) return;
      const { release } = client;
      // Whoever has it may still give it back.
      client.release = () => {};
      release(true);
    });
  });
  pool.on("acquire", (client) => {
    inUse.add(client);
    streamOf(client).setTimeout(silenceMs);
  });
  pool.on("release", (_error, client) => {
    inUse.delete(client);
    streamOf(client).setTimeout(0);
  });
}

/** Not in the types of node-postgres. */
const streamOf = (client: pg.PoolClient) => (client as unknown as { connection: { stream: Socket } }).connection.stream;

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
