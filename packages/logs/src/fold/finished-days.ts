import type { Pool, PoolClient } from "pg";
import type { Window } from "../query/series-windows.ts";

const dayMs = 86_400_000;
/** Rows of a day may come this long after its end without slowing their writer: from gateways that spooled them. */
const lateMs = 3_600_000;

/**
 * What rows of a finished day are found by. Hashes, because texts may be longer than an index takes. Only a condition
 * with the very same expression uses the index.
 */
export const finishedDayIndexes = {
  principal: { expression: "hashtextextended(principal, 0)", where: "" },
  target: { expression: "hashtextextended(target, 0)", where: "WHERE target IS NOT NULL" },
} as const;
type IndexName = keyof typeof finishedDayIndexes;
const indexNames = Object.keys(finishedDayIndexes) as IndexName[];

/**
 * Indexes the rows of days that have ended by user and by target, the oldest day first. The day that is being written
 * has no such index: one would slow every write. A worker that is killed leaves an invalid index, which the next call
 * replaces; workers take turns.
 *
 * @returns how many days were indexed; stops after a day when `signal` is aborted
 */
export async function indexFinishedDays(pool: Pool, signal?: AbortSignal): Promise<number> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    const { rows } = await client.query("SELECT pg_try_advisory_lock(hashtext('towpath_index_days')) AS held");
    if (!rows[0]?.held) return 0;
    try {
      return await indexDays(client, signal);
    } finally {
      await client.query("SELECT pg_advisory_unlock(hashtext('towpath_index_days'))");
    }
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    // After a failure the connection is closed, which ends the lock.
    client.release(failure);
  }
}

async function indexDays(client: PoolClient, signal: AbortSignal | undefined): Promise<number> {
  const lastMs = Date.now() - lateMs - dayMs;
  const unindexed = (await readDays(client, 0)).filter((day) => !day.isIndexed && day.from <= lastMs);
  let indexed = 0;
  for (const { partition } of unindexed) {
    if (signal?.aborted) break;
    for (const name of indexNames) await createIndex(client, partition, name);
    // An index on an expression has no statistics of its own yet, and nothing else analyzes a day that has ended.
    await client.query(`ANALYZE ${partition}`);
    indexed++;
  }
  return indexed;
}

/** Concurrently, so that nothing waits that writes a late row. */
async function createIndex(client: PoolClient, partition: string, name: IndexName): Promise<void> {
  const { expression, where } = finishedDayIndexes[name];
  const index = `${partition}_${name}`;
  const { rows } = await client.query(
    "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1::text)",
    [index],
  );
  if (rows[0]?.valid) return;
  if (rows[0]) await client.query(`DROP INDEX CONCURRENTLY ${index}`);
  await client.query(`CREATE INDEX CONCURRENTLY ${index} ON ${partition} (project_id, (${expression}), time) ${where}`);
}

type Day = { readonly partition: string; readonly from: number; readonly isIndexed: boolean };

/** Days with a partition that end after `from` (milliseconds), the oldest first. */
async function readDays(client: Pick<Pool, "query">, from: number): Promise<Day[]> {
  const indexes = indexNames.map((name) => `c.relname || '_${name}'`).join(", ");
  const { rows } = await client.query<{ partition: string; day: string; indexed: boolean }>(
    `SELECT c.relname AS partition, right(c.relname, 8) AS day, (SELECT count(*) = ${indexNames.length} FROM pg_index i
       JOIN pg_class n ON n.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisvalid AND n.relname IN (${indexes})) AS indexed
     FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid
     WHERE h.inhparent = 'request_log'::regclass AND c.relname ~ '^request_log_\\d{8}$' AND right(c.relname, 8) >= $1
     ORDER BY c.relname`,
    [new Date(from).toISOString().slice(0, 10).replaceAll("-", "")],
  );
  return rows.map(({ partition, day, indexed }) => ({
    partition,
    from: Date.parse(day.replace(/(....)(..)(..)/, "$1-$2-$3T00:00:00Z")),
    isIndexed: indexed,
  }));
}

/** How far into a period (milliseconds) all of its days are indexed; null: not even the first one is. */
export async function indexedUntil(pool: Pool, { from }: Window): Promise<number | null> {
  let until: number | null = null;
  for (const day of await readDays(pool, from)) {
    if (!day.isIndexed) break;
    until = day.from + dayMs;
  }
  return until;
}
