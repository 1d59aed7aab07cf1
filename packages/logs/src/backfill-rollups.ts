import type { Pool } from "pg";

const batchRows = 5000;

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
    const counted = await backfillBatch((text, values) => client.query(text, values));
    await client.query("COMMIT");
    return counted;
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

async function backfillBatch(query: Query): Promise<number> {
  const lock = await query("SELECT pg_try_advisory_xact_lock(hashtext('towpath_backfill_rollups')) AS held");
  if (!lock.rows[0]?.held) return 0;
  // Two steps: with the bound known when it is planned, the update reads only the partitions that it changes.
  const oldest = await query(
    `SELECT min(time)::text AS time FROM (
       SELECT time FROM request_log WHERE needs_rollup ORDER BY time DESC LIMIT ${batchRows}) AS batch`,
  );
  const time = oldest.rows[0]?.time;
  if (time === null) return 0;
  await query("SET LOCAL towpath.backfill_rollups = 'on'");
  const updated = await query("UPDATE request_log SET needs_rollup = NULL WHERE needs_rollup AND time >= $1", [time]);
  return updated.rowCount ?? 0;
}
