import type { Pool } from "pg";
import type { Reader } from "../query/reader.ts";
import { inTurn } from "../write/transaction.ts";

export const dayMs = 86_400_000;
/** How long after the end of a day late rows, spooled by gateways, may arrive without slowing their writer. */
const lateMs = 3_600_000;

/**
 * Indexes on rows of a finished day. Hashes, because texts may be longer than an index permits. Only a condition with
 * the identical expression uses the index.
 */
export const finishedDayIndexes = {
  principal: { expression: "hashtextextended(principal, 0)", where: "" },
  target: { expression: "hashtextextended(target, 0)", where: "WHERE target IS NOT NULL" },
} as const;
const indexes = Object.entries(finishedDayIndexes);

/**
 * Indexes the rows of finished days by user and by target, the oldest day first. The current day has no such index: it
 * would slow every write. A killed worker leaves an invalid index, which the next call replaces; workers take turns.
 *
 * @returns the number of indexed days; stops after a day when `signal` is aborted
 */
export async function indexFinishedDays(pool: Pool, signal?: AbortSignal): Promise<number> {
  // The transaction only holds the lock: the index is created on another connection, and doesn't wait for idle
  // transactions.
  return (await inTurn(pool, "towpath_index_days", () => indexDays(pool, signal))) ?? 0;
}

async function indexDays(pool: Pool, signal: AbortSignal | undefined): Promise<number> {
  const lastMs = Date.now() - lateMs - dayMs;
  const unindexed = (await readLogDays(pool, 0)).filter((day) => !day.isIndexed && day.from <= lastMs);
  let indexed = 0;
  for (const { partition } of unindexed) {
    if (signal?.aborted) break;
    for (const [name, { expression, where }] of indexes)
      await createIndex(pool, partition, `${partition}_${name}`, `(project_id, (${expression}), time) ${where}`);
    // An index on an expression has no statistics of its own yet, and nothing else analyzes a finished day.
    await pool.query(`ANALYZE ${partition}`);
    indexed++;
  }
  return indexed;
}

/** Concurrently, so that writers of late rows don't wait. */
async function createIndex(pool: Pool, partition: string, index: string, definition: string): Promise<void> {
  const { rows } = await pool.query(
    "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1::text)",
    [index],
  );
  if (rows[0]?.valid) return;
  if (rows[0]) await pool.query(`DROP INDEX CONCURRENTLY ${index}`);
  await pool.query(`CREATE INDEX CONCURRENTLY ${index} ON ${partition} ${definition}`);
}

/** `from`: milliseconds. */
type LogDay = { readonly partition: string; readonly from: number; readonly isIndexed: boolean };

/** Days with a partition that end after `from` (milliseconds), the oldest first. */
export async function readLogDays(reader: Reader, from: number): Promise<LogDay[]> {
  const names = indexes.map(([name]) => `c.relname || '_${name}'`).join(", ");
  const { rows } = await reader.query<{ partition: string; day: string; indexed: boolean }>(
    `SELECT c.relname AS partition, right(c.relname, 8) AS day, (SELECT count(*) = ${indexes.length} FROM pg_index i
       JOIN pg_class n ON n.oid = i.indexrelid WHERE i.indrelid = c.oid AND i.indisvalid AND n.relname IN (${names})) AS indexed
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
