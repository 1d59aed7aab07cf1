import type { Pool, PoolClient } from "pg";
import { inTurn } from "../write/transaction.ts";

const batchRows = 5000;
/** Where this process's next batch begins: index entries of counted rows stay until a vacuum, and are slow to skip. */
const cursors = new WeakMap<Pool, string>();

/**
 * Counts rows that are older than the roll-ups (an upgrade marks them `needs_rollup`): one batch, newest first. The
 * statement that clears the marks also adds the rows up (`request_log_delta`), so each row counts exactly once, and
 * after a kill the next worker resumes there. Workers take turns; if another one is running, returns 0.
 *
 * @returns the number of counted rows. Call again, after folding, while it is not 0.
 */
export async function backfillRollups(pool: Pool): Promise<number> {
  const before = cursors.get(pool) ?? "infinity";
  const batch = await inTurn(pool, "towpath_backfill_rollups", async (client) => {
    const next = await backfillBatch(client, before);
    // A batch of another worker may have failed behind the cursor: start once more from the top before giving up.
    return next.oldest === null && before !== "infinity" ? backfillBatch(client, "infinity") : next;
  });
  if (batch === null) return 0;
  if (batch.oldest === null) cursors.delete(pool);
  else cursors.set(pool, batch.oldest);
  return batch.counted;
}

/** `oldest` null: there are no such rows. */
type Batch = { readonly counted: number; readonly oldest: string | null };

/** Counts the newest rows before an instant. */
async function backfillBatch(client: PoolClient, before: string): Promise<Batch> {
  // Two steps: with the bounds known when it is planned, the update reads only the partitions that it changes.
  const { rows } = await client.query<{ oldest: string | null }>(
    `SELECT min(time)::text AS oldest FROM (SELECT time FROM request_log WHERE needs_rollup AND time < $1
       ORDER BY time DESC LIMIT ${batchRows}) AS batch`,
    [before],
  );
  const oldest = rows[0]?.oldest ?? null;
  if (oldest === null) return { counted: 0, oldest };
  await client.query("SET LOCAL towpath.backfill_rollups = 'on'");
  const updated = await client.query(
    "UPDATE request_log SET needs_rollup = NULL WHERE needs_rollup AND time >= $1 AND time < $2",
    [oldest, before],
  );
  return { counted: updated.rowCount ?? 0, oldest };
}
