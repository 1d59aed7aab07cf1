import { fileURLToPath } from "node:url";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import { openDatabase } from "./client.ts";

export const migrationsFolder = fileURLToPath(new URL("../migrations", import.meta.url));

/** Brings the schema up to date. Safe when several processes start at once: the first one migrates, the rest wait. */
export async function migrateDatabase(url: string): Promise<void> {
  const { db, pool, close } = openDatabase(url, { maxConnections: 2 });
  const lock = await pool.connect();
  try {
    await lock.query("SELECT pg_advisory_lock(hashtext('towpath_migrate'))");
    await migrate(db, { migrationsFolder });
    await lock.query(
      "SELECT towpath_ensure_log_partitions(day::date) FROM generate_series(now(), now() + interval '2 days', interval '1 day') day",
    );
  } finally {
    lock.release(true);
    await close();
  }
}
