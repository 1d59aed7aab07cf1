import pg, { type Pool } from "pg";

const dayMs = 24 * 3_600_000;
/** Days (whole days since the epoch) whose partitions are known to exist. */
const ensured = new WeakMap<Pool, Set<number>>();

/**
 * SQL for a row's time: now, if `time` is more than a day ahead. Rows of a clock that is wrong by years would be beyond
 * all partitions, and stay for these years.
 */
export const timeNotAhead = (time: string) =>
  `CASE WHEN ${time} > now() + interval '1 day' THEN now() ELSE ${time} END`;

/**
 * Creates the day partitions of the log tables for the given instants (milliseconds). When the database refuses, rows
 * go to the default partition and are later deleted one by one instead of with their day, so that isn't an error. For a
 * day far ahead, the database creates tomorrow's partitions. Days are cached per pool, so the usual cost is a set
 * look-up.
 */
export async function ensureDayPartitions(pool: Pool, times: Iterable<number>): Promise<void> {
  let days = ensured.get(pool);
  if (!days) {
    days = new Set();
    ensured.set(pool, days);
  }
  const missing = new Set<number>();
  for (const time of times) {
    const today = Math.floor(time / dayMs);
    // The next day too: its partition can't be created any more once the default partition has rows of that day.
    if (!days.has(today)) missing.add(today);
    if (!days.has(today + 1)) missing.add(today + 1);
  }
  for (const day of missing) {
    // Before the call, so that a refusal isn't repeated for every batch.
    days.add(day);
    try {
      await pool.query("SELECT towpath_ensure_log_partitions($1::date)", [
        new Date(day * dayMs).toISOString().slice(0, 10),
      ]);
    } catch (error) {
      // The caller must learn that the database is unavailable; a refusal is harmless (see above).
      if (!(error instanceof pg.DatabaseError)) {
        days.delete(day);
        throw error;
      }
    }
  }
}
