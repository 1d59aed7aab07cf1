import pg, { type Pool } from "pg";

const dayMs = 24 * 3_600_000;
/** Days (whole days since the epoch) whose partitions are known to exist. */
const ensured = new WeakMap<Pool, Set<number>>();

/**
 * Makes sure that the day partitions of the log tables exist for the given instants (milliseconds).
 *
 * A failure is not an error: the tables have a default partition, so rows are kept either way and only the later
 * dropping of whole days gets slower. Days are remembered per pool, so the usual cost is a set look-up.
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
    // The next day too: a partition is cheap before rows of its day exist, and impossible once the default has some.
    if (!days.has(today)) missing.add(today);
    if (!days.has(today + 1)) missing.add(today + 1);
  }
  for (const day of missing) {
    // Remembered before the call: a database that refuses is not asked again for every batch.
    days.add(day);
    try {
      await pool.query("SELECT towpath_ensure_log_partitions($1::date)", [
        new Date(day * dayMs).toISOString().slice(0, 10),
      ]);
    } catch (error) {
      // The database's own refusal, as against not being reachable, which the caller must hear of.
      if (!(error instanceof pg.DatabaseError)) {
        days.delete(day);
        throw error;
      }
    }
  }
}
