import type { Pool, PoolClient } from "pg";

/** Runs `work` in a transaction, which is rolled back when it throws. */
export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query("BEGIN");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    // Without waiting: the connection is closed too, and ends a moment later.
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  } finally {
    client.release(failure);
  }
}

/**
 * Runs `work` in a transaction that holds a lock of the given name. The lock ends with the transaction, so this works
 * behind a transaction pooler too.
 *
 * @param name part of an SQL statement. A parameter would make PostgreSQL keep a snapshot while the transaction is
 * idle, and creating an index concurrently waits for older snapshots.
 *
 * @returns null if another process holds the lock
 */
export const inTurn = <Result>(
  pool: Pool,
  name: "towpath_fold_request_logs" | "towpath_backfill_rollups" | "towpath_index_days",
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result | null> =>
  inTransaction(pool, async (client) => {
    const { rows } = await client.query(`SELECT pg_try_advisory_xact_lock(hashtext('${name}')) AS held`);
    return rows[0].held ? work(client) : null;
  });
