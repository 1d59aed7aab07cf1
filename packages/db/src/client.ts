import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import * as schema from "./schema/index.ts";

/** Drizzle over one pool, or over the transaction that `db.transaction` hands out. */
export type Database = ReturnType<typeof drizzle<typeof schema, pg.Pool>>;
export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

export type DatabaseClient = {
  readonly db: Database;
  /** The same pool for code that speaks SQL itself (logs, gateway). */
  readonly pool: pg.Pool;
  close(): Promise<void>;
};

const connectionTimeoutMillis = 15_000;

/**
 * Opens a pool; connects on first use. `url` may name a unix socket:
 * `postgresql://user@/database?host=/folder&port=5432`.
 */
export function openDatabase(
  url: string,
  options: {
    readonly maxConnections?: number;
    /** Longest time of one statement; PostgreSQL ends a longer one with SQLSTATE 57014. */
    readonly statementTimeoutMs?: number;
  } = {},
): DatabaseClient {
  const { maxConnections = 10, statementTimeoutMs } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    ...(statementTimeoutMs === undefined ? {} : { statement_timeout: statementTimeoutMs }),
    idleTimeoutMillis: 30_000,
    // A database that swallows packets, or a pool that is used up, becomes an error instead of a request without end.
    connectionTimeoutMillis,
  });
  // A connection that breaks while idle raises here; the pool replaces it, and the next query says what is wrong.
  pool.on("error", () => {});
  return { db: drizzle(pool, { schema, casing: "snake_case" }), pool, close: () => pool.end() };
}
