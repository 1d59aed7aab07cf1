import type { Pool } from "pg";

const batchRows = 5000;
/** Where the next batch of this process begins: index entries of rows that are counted stay until a vacuum, and slow. */
const cursors = new WeakMap<Pool, string>();

/**
 * Counts rows that are older than the roll-ups (an upgrade marks them `needs_rollup`): one batch, newest first. The
 * statement that clears the marks also adds the rows up (`request_log_delta`), so each row counts exactly once, and a
 * worker that is killed in between resumes where it was. Workers take turns; one that finds another at it returns 0.
 *
 * @returns how many rows were counted. Call again, after folding, while it is not 0.
 */
export async function backfillRollups(pool: Pool): Promise<number> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query("BEGIN");
    const query: Query = (text, values) => client.query(text, values);
    const before = cursors.get(pool) ?? "infinity";
    let batch = await backfillBatch(query, before);
    // A batch of another worker may have failed behind the cursor: look once more from the top before giving up.
    if (batch?.oldest === null && before !== "infinity") batch = await backfillBatch(query, "infinity");
    await client.query("COMMIT");
    if (!batch) return 0;
    if (batch.oldest === null) cursors.delete(pool);
    else cursors.set(pool, batch.oldest);
    return batch.counted;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  } finally {
    client.release(failure);
  }
}

type Query = (
  text: string,
  values?: unknown[],
) => Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;

type Batch = { readonly counted: number; readonly oldest: string | null };

/** Counts the newest rows before an instant. Null when another worker is at it; `oldest` null: there are no such rows. */
async function backfillBatch(query: Query, before: string): Promise<Batch | null> {
  const lock = await query("SELECT pg_try_advisory_xact_lock(hashtext('towpath_backfill_rollups')) AS held");
  if (!lock.rows[0]?.held) return null;
  // Two steps: with the bounds known when it is planned, the update reads only the partitions that it changes.
  const found = await query(
    `SELECT min(time)::text AS oldest FROM (SELECT time FROM request_log WHERE needs_rollup AND time < $1
       ORDER BY time DESC LIMIT ${batchRows}) AS batch`,
    [before],
  );
  const oldest = found.rows[0]?.oldest;
  if (typeof oldest !== "string") return { counted: 0, oldest: null };
  await query("SET LOCAL towpath.backfill_rollups = 'on'");
  const updated = await query(
    "UPDATE request_log SET needs_rollup = NULL WHERE needs_rollup AND time >= $1 AND time < $2",
    [oldest, before],
  );
  return { counted: updated.rowCount ?? 0, oldest };
}
