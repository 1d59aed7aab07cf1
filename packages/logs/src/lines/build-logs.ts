import type { BuildLogEntry, BuildLogLine } from "@towpath/core/delivery/build/contract";
import type { Pool, PoolClient } from "pg";
import { toPostgresText } from "../write/postgres-text.ts";
import { inTransaction } from "../write/transaction.ts";

/** Channel with the id of a build whose log grew. */
export const buildLogChannel = "towpath_build_log";

/**
 * Appends lines to a build's log with the next line numbers and notifies `towpath_build_log`. Only the build's current
 * attempt may write: for another `attempt` or a deleted build nothing is written and `written` is false, and the
 * calling worker must stop (BLD-1). Texts are cut at 8 KiB.
 */
export async function appendBuildLog(
  pool: Pool,
  build: { buildId: string; attempt: number },
  lines: readonly BuildLogLine[],
): Promise<{ written: boolean; lastLine: number }> {
  return inTransaction(pool, async (client) => {
    // The row lock makes line numbers unique, and delays a newer attempt until this batch is written.
    const held = await client.query("SELECT 1 FROM build WHERE id = $1 AND attempt = $2 FOR NO KEY UPDATE", [
      build.buildId,
      build.attempt,
    ]);
    const written = held.rowCount === 1;
    if (written && lines.length > 0) await insertLines(client, build.buildId, lines);
    const last = await client.query("SELECT coalesce(max(line), 0) AS line FROM build_log WHERE build_id = $1", [
      build.buildId,
    ]);
    return { written, lastLine: last.rows[0].line };
  });
}

async function insertLines(client: PoolClient, buildId: string, lines: readonly BuildLogLine[]): Promise<void> {
  await client.query(
    `INSERT INTO build_log (build_id, line, time, phase, kind, text)
     SELECT $1, last.line + rows.position, rows.time, rows.phase, rows.kind, rows.text
     FROM (SELECT coalesce(max(line), 0) AS line FROM build_log WHERE build_id = $1) AS last,
       unnest($2::timestamptz[], $3::text[], $4::text[], $5::text[])
         WITH ORDINALITY AS rows (time, phase, kind, text, position)`,
    [
      buildId,
      lines.map((line) => line.time.toISOString()),
      lines.map((line) => line.phase),
      lines.map((line) => line.kind),
      lines.map((line) => toPostgresText(line.text, 8192)),
    ],
  );
  await client.query(`SELECT pg_notify('${buildLogChannel}', $1)`, [buildId]);
}

/**
 * Reads a build's log in order, from the line after `afterLine` (default 0: the beginning). `limit` 1 to 5000,
 * default 1000. The caller has checked access to the build.
 */
export async function readBuildLog(
  pool: Pool,
  query: { buildId: string; afterLine?: number; limit?: number },
): Promise<BuildLogEntry[]> {
  const limit = Math.min(Math.max(query.limit ?? 1000, 1), 5000);
  const result = await pool.query<Omit<BuildLogEntry, "time"> & { time: Date }>(
    "SELECT line, time, phase, kind, text FROM build_log WHERE build_id = $1 AND line > $2 ORDER BY line LIMIT $3",
    [query.buildId, query.afterLine ?? 0, limit],
  );
  return result.rows.map((row) => ({ ...row, time: row.time.toISOString() }));
}
