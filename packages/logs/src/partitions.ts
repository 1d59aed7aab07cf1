import type { Pool } from "pg";

const ensured = new WeakMap<Pool, Set<string>>();

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
  const missing = new Set<string>();
  for (const time of times) {
    const day = new Date(time).toISOString().slice(0, 10);
    if (!days.has(day)) missing.add(day);
  }
  for (const day of missing) {
    // Remembered before the call: a database that refuses is not asked again for every batch.
    days.add(day);
    try {
      await pool.query("SELECT towpath_ensure_log_partitions($1::date)", [day]);
    } catch (error) {
      if (!isDatabaseAnswer(error)) {
        days.delete(day);
        throw error;
      }
    }
  }
}

/** Whether the database itself refused (a SQLSTATE), as against not being reachable. */
function isDatabaseAnswer(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code)
  );
}
