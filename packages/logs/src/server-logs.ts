import type { Pool } from "pg";
import { ensureDayPartitions, timeNotAhead } from "./partitions.ts";
import { toPostgresText } from "./postgres-text.ts";

type ServerLogStream = "stdout" | "stderr" | "platform";
export type ServerLogLevel = "debug" | "info" | "warning" | "error";

/** A line that a server wrote, or that the platform says about it (RUN-5). */
export type ServerLogRow = {
  time: Date;
  projectId: string;
  deploymentId: string;
  instanceId: string | null;
  stream: ServerLogStream;
  level: ServerLogLevel;
  /** Without its line end; cut at 8 KiB. */
  line: string;
};

export type ServerLogEntry = {
  /** Grows with every line; the cursor of `readServerLogs`. */
  id: number;
  /** ISO 8601, UTC, milliseconds. */
  time: string;
  instanceId: string | null;
  stream: ServerLogStream;
  level: ServerLogLevel;
  line: string;
};

/** Channel that carries a deployment's id whenever it got new server-log lines. */
export const serverLogChannel = "towpath_server_log";

/**
 * Writes server-log lines in one statement, keeping their order, and notifies `towpath_server_log` once per
 * deployment. One writer per deployment: a cursor reader may miss lines that a second writer commits late.
 */
export async function writeServerLogs(pool: Pool, rows: readonly ServerLogRow[]): Promise<void> {
  if (rows.length === 0) return;
  await ensureDayPartitions(
    pool,
    rows.map((row) => row.time.getTime()),
  );
  await pool.query(
    `WITH written AS (
       INSERT INTO server_log (time, project_id, deployment_id, instance_id, stream, level, line)
       SELECT ${timeNotAhead("time")}, project_id, deployment_id, instance_id, stream, level, line
       FROM unnest($1::timestamptz[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[])
         WITH ORDINALITY AS rows (time, project_id, deployment_id, instance_id, stream, level, line, position)
       ORDER BY position
       RETURNING deployment_id
     )
     SELECT pg_notify('${serverLogChannel}', deployment_id::text) FROM (SELECT DISTINCT deployment_id FROM written) AS d`,
    [
      rows.map((row) => row.time.toISOString()),
      rows.map((row) => row.projectId),
      rows.map((row) => row.deploymentId),
      rows.map((row) => row.instanceId),
      rows.map((row) => row.stream),
      rows.map((row) => row.level),
      rows.map((row) => toPostgresText(row.line, 8192)),
    ],
  );
}

/**
 * Reads lines of a deployment in order. With `afterId` the lines after it, oldest first; without it the newest
 * `limit` lines, also oldest first. `limit` 1 to 5000, default 1000. The caller has checked access to the deployment.
 */
export async function readServerLogs(
  pool: Pool,
  query: { deploymentId: string; afterId?: number; limit?: number },
): Promise<ServerLogEntry[]> {
  const limit = Math.min(Math.max(query.limit ?? 1000, 1), 5000);
  // The order of nulls, of which there are none, is the index's: else PostgreSQL would sort instead of reading it.
  const columns = "id, time, instance_id, stream, level, line";
  const result =
    query.afterId === undefined
      ? await pool.query(
          `SELECT * FROM (SELECT ${columns} FROM server_log WHERE deployment_id = $1 ORDER BY id DESC NULLS LAST LIMIT $2) AS newest
           ORDER BY id`,
          [query.deploymentId, limit],
        )
      : await pool.query(
          `SELECT ${columns} FROM server_log WHERE deployment_id = $1 AND id > $3 ORDER BY id NULLS FIRST LIMIT $2`,
          [query.deploymentId, limit, query.afterId],
        );
  return result.rows.map((row) => ({
    id: Number(row.id),
    time: row.time.toISOString(),
    instanceId: row.instance_id,
    stream: row.stream,
    level: row.level,
    line: row.line,
  }));
}
