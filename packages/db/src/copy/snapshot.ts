import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { requireKnownSchema } from "../release.ts";

/** The rows of a table, without those columns that the database computes. */
type CopiedTable = { readonly name: string; readonly columns: readonly string[] };

/** What a copy has to be loaded into: our migrations up to the newest one, the days of logs, and how far ids were given. */
export type DatabaseContent = {
  /** The release that migrated it last; null for one that left no name. */
  readonly release: string | null;
  /** How many migrations, and the time in the journal of the newest one. */
  readonly migrations: number;
  readonly newestMigration: number;
  readonly tables: readonly CopiedTable[];
  /** `20261126`: days that have a partition. */
  readonly days: readonly string[];
  readonly sequences: readonly { readonly name: string; readonly last: string }[];
  /** Size on its disk, with indexes. */
  readonly bytes: number;
};

export type DatabaseSnapshot = {
  readonly content: DatabaseContent;
  /** Sees the same moment as `rows`. */
  query<Row extends Record<string, unknown>>(text: string): Promise<readonly Row[]>;
  /** In PostgreSQL's text format of COPY. Read to the end before anything else is asked. */
  rows(table: CopiedTable): AsyncIterable<Buffer>;
  close(): Promise<void>;
};

/**
 * Tables that a back-up lacks: servers' processes, reports of hosts and of back-ups, which are another instance's, and the names of
 * bundles, because repositories are copied from where their commits are.
 */
const ofTheHost: readonly string[] = [
  "instance",
  "host_isolation",
  "host_storage",
  "data_volume",
  "scheduled_backup",
  "repository_bundles",
];

/**
 * The database at one moment, of an instance that may be running. The queue's tables aren't part of it: workers enqueue
 * unfinished work again.
 *
 * @param url past a pooler or not
 * @param scope `instance`: also those tables that only this instance on this host has a use for
 * @throws NewerSchema; Error for a database that no release of Towpath has used
 */
export async function openSnapshot(url: string, scope: "backup" | "instance"): Promise<DatabaseSnapshot> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 15_000 });
  // PostgreSQL ended: the query fails, too.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    await client.query("SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0");
    const content = await readContent(client, scope === "backup" ? ofTheHost : []);
    return {
      content,
      query: async <Row extends Record<string, unknown>>(text: string) => (await client.query<Row>(text)).rows,
      rows({ name, columns }) {
        const listed = columns.map(pg.escapeIdentifier).join(", ");
        return client.query(copyTo(`COPY (SELECT ${listed} FROM ${pg.escapeIdentifier(name)}) TO STDOUT`));
      },
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function readContent(client: pg.Client, left: readonly string[]): Promise<DatabaseContent> {
  const applied = await requireKnownSchema(client);
  if (applied === null) throw new Error("The database is empty: no instance has used it.");
  const one = async <Row extends Record<string, unknown>>(text: string) => (await client.query<Row>(text)).rows[0];
  const newest = await one<{ newest: string }>("SELECT max(created_at) AS newest FROM drizzle.__drizzle_migrations");
  const size = await one<{ bytes: string }>("SELECT pg_database_size(current_database()) AS bytes");
  return {
    release: applied.release,
    migrations: applied.migrations,
    newestMigration: Number(newest?.newest),
    tables: await readTables(client, left),
    days: await readDays(client),
    sequences: await readSequences(client),
    bytes: Number(size?.bytes),
  };
}

async function readTables(client: pg.Client, left: readonly string[]): Promise<CopiedTable[]> {
  const { rows } = await client.query<CopiedTable>(
    `SELECT relname AS name, array_agg(attname::text ORDER BY attnum) AS columns
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND relname <> ALL ($1)
     GROUP BY relname ORDER BY relname`,
    [left],
  );
  return rows;
}

async function readDays(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ day: string }>(
    `SELECT DISTINCT substring(relname from '_([0-9]{8})$') AS day FROM pg_class
     WHERE relispartition AND relnamespace = 'public'::regnamespace AND relname ~ '_[0-9]{8}$' ORDER BY day`,
  );
  return rows.map(({ day }) => day);
}

/** Those that have given a number. They don't follow transactions, so they are at least as far as the copied rows. */
async function readSequences(client: pg.Client): Promise<{ name: string; last: string }[]> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `SELECT sequencename AS name, last_value::text AS last FROM pg_sequences
     WHERE schemaname = 'public' AND last_value IS NOT NULL ORDER BY sequencename`,
  );
  return rows;
}
