import { hash } from "node:crypto";
import type { Pool } from "pg";
import { z } from "zod";
import type { Reader } from "../query/reader.ts";
import { ensureDayPartitions, timeNotAhead } from "../write/partitions.ts";
import { toPostgresText } from "../write/postgres-text.ts";

export const serverLogEntrySchema = z.object({
  /** Grows with every line; the cursor of `readServerLogs`. */
  id: z.number().int(),
  /** UTC, milliseconds. */
  time: z.iso.datetime(),
  instanceId: z.string().nullable(),
  stream: z.enum(["stdout", "stderr", "platform"]),
  level: z.enum(["debug", "info", "warning", "error"]),
  requestId: z.uuid().nullable().describe("the request during which it was printed"),
  line: z.string(),
  /** Whose own instance it is from (CAP-1), by name; null: all callers share it, or that isn't known any more. */
  caller: z.string().nullable(),
});
export type ServerLogEntry = z.infer<typeof serverLogEntrySchema>;
export type ServerLogLevel = ServerLogEntry["level"];

/** A line from a server, or from the platform about it (RUN-5): without its line end, cut at 8 KiB. */
export type ServerLogRow = Omit<ServerLogEntry, "id" | "time" | "caller"> & {
  time: Date;
  projectId: string;
  deploymentId: string;
};

const maxLineCharacters = 8192;

/** Channel with the id of a deployment that got new server-log lines. */
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
       INSERT INTO server_log (time, project_id, deployment_id, instance_id, stream, level, request_id, line)
       SELECT ${timeNotAhead("time")}, project_id, deployment_id, instance_id, stream, level, request_id, line
       FROM unnest($1::timestamptz[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::uuid[],
           $8::text[])
         WITH ORDINALITY AS rows (time, project_id, deployment_id, instance_id, stream, level, request_id, line, position)
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
      rows.map((row) => row.requestId),
      rows.map((row) => toPostgresText(row.line, maxLineCharacters)),
    ],
  );
}

/**
 * The rows that the database does not have yet, in order: for a writer that does not know whether its predecessor's
 * last write succeeded. A row is identified by deployment, instance, time, stream and text; duplicates count.
 */
export async function unwrittenServerLogs(pool: Pool, rows: readonly ServerLogRow[]): Promise<ServerLogRow[]> {
  if (rows.length === 0) return [];
  const times = rows.map((row) => row.time.getTime());
  const [from, to] = times.reduce(
    ([low, high], time) => [Math.min(low, time), Math.max(high, time)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  const { rows: found } = await pool.query<{
    deployment_id: string;
    instance_id: string | null;
    time: Date;
    stream: string;
    line: string;
  }>(
    `SELECT deployment_id, instance_id, time, stream, line FROM server_log
     WHERE deployment_id = ANY ($1::uuid[]) AND time BETWEEN $2 AND $3`,
    [[...new Set(rows.map((row) => row.deploymentId))], new Date(from ?? 0), new Date(to ?? 0)],
  );
  const written = new Map<string, number>();
  for (const row of found) {
    const key = JSON.stringify([row.deployment_id, row.instance_id, row.time.getTime(), row.stream, row.line]);
    written.set(key, (written.get(key) ?? 0) + 1);
  }
  return rows.filter(({ deploymentId, instanceId, time, stream, line }) => {
    const text = toPostgresText(line, maxLineCharacters);
    const key = JSON.stringify([deploymentId, instanceId, time.getTime(), stream, text]);
    const count = written.get(key) ?? 0;
    if (count > 0) written.set(key, count - 1);
    return count === 0;
  });
}

// Queries name the index's order of nulls, although there are none: else PostgreSQL would sort instead of reading it.

/** A line that an instance has printed. `digest`: see `digestOfLine`. */
export type PrintedLine = { readonly stream: ServerLogRow["stream"]; readonly time: Date; readonly digest: string };

/** Lines that an instance has printed, those that were stored last first. */
export async function newestServerLines(
  pool: Pool,
  { deploymentId, instanceId, limit }: { deploymentId: string; instanceId: string; limit: number },
): Promise<PrintedLine[]> {
  const { rows } = await pool.query(
    `SELECT stream, time, encode(sha256(convert_to(line, 'UTF8')), 'hex') AS digest FROM server_log
     WHERE deployment_id = $1 AND instance_id = $2 AND stream <> 'platform' ORDER BY id DESC NULLS LAST LIMIT $3`,
    [deploymentId, instanceId, limit],
  );
  return rows;
}

/** SHA-256 of a line as it is stored, in hexadecimal. */
export const digestOfLine = (line: string): string => hash("sha256", toPostgresText(line, maxLineCharacters) ?? "");

const columns = `id, time, instance_id AS "instanceId", stream, level, request_id AS "requestId", line,
  (SELECT "user".name FROM instance JOIN "user" ON "user".id = instance.caller_id
    WHERE instance.id = server_log.instance_id) AS caller`;
/** Lines before the requested one. */
const linesBefore = 200;
/** Upper limit for the difference of gateways' and runners' clocks. */
const maxClockSkewMs = 60_000;

/**
 * Reads lines of a deployment in order. With `afterId` the lines after it, oldest first; with `around` those from 200
 * lines before that line on; without either the newest `limit` lines, also oldest first. `limit` 1 to 5000, default
 * 1000. The caller has checked access to the deployment.
 */
export async function readServerLogs(
  reader: Reader,
  query: { deploymentId: string; afterId?: number; around?: number; limit?: number },
): Promise<ServerLogEntry[]> {
  const limit = Math.min(Math.max(query.limit ?? 1000, 1), 5000);
  const { deploymentId, afterId } = query;
  if (afterId !== undefined) return after(reader, deploymentId, afterId, limit);
  if (query.around !== undefined) {
    const before = await newest(reader, deploymentId, query.around, linesBefore + 1);
    const first = before[0];
    // If the line was deleted with its day, the newest lines, as without `around`.
    if (first !== undefined) return after(reader, deploymentId, first.id - 1, limit);
  }
  return newest(reader, deploymentId, Number.MAX_SAFE_INTEGER, limit);
}

async function newest(reader: Reader, deploymentId: string, upTo: number, limit: number): Promise<ServerLogEntry[]> {
  const { rows } = await reader.query<Row>(
    `SELECT * FROM (SELECT ${columns} FROM server_log WHERE deployment_id = $1 AND id <= $3
       ORDER BY id DESC NULLS LAST LIMIT $2) AS newest ORDER BY id`,
    [deploymentId, limit, upTo],
  );
  return rows.map(toEntry);
}

async function after(reader: Reader, deploymentId: string, id: number, limit: number): Promise<ServerLogEntry[]> {
  const { rows } = await reader.query<Row>(
    `SELECT ${columns} FROM server_log WHERE deployment_id = $1 AND id > $3 ORDER BY id NULLS FIRST LIMIT $2`,
    [deploymentId, limit, id],
  );
  return rows.map(toEntry);
}

/**
 * The lines that a server printed while it handled a request (LOG-4), oldest first; `hasMore`: there are more than
 * `limit`. Lines of tasks that the request started count too, at any time.
 *
 * @param request its project, its id and its time. The caller has checked access to the project.
 */
export async function readRequestLines(
  reader: Reader,
  request: { projectId: string; requestId: string; time: Date; limit?: number },
): Promise<{ lines: (ServerLogEntry & { deploymentId: string })[]; hasMore: boolean }> {
  const limit = Math.min(Math.max(request.limit ?? 200, 1), 1000);
  const from = new Date(request.time.getTime() - maxClockSkewMs);
  const { rows } = await reader.query<Row & { deploymentId: string }>(
    `SELECT deployment_id AS "deploymentId", ${columns} FROM server_log
     WHERE project_id = $1 AND request_id = $2 AND time >= $3 ORDER BY id LIMIT $4`,
    [request.projectId, request.requestId, from, limit + 1],
  );
  const lines = rows.slice(0, limit).map(toEntry);
  return { lines, hasMore: rows.length > limit };
}

type Row = Omit<ServerLogEntry, "id" | "time"> & { id: string; time: Date };

const toEntry = <Found extends Row>(row: Found) => ({ ...row, id: Number(row.id), time: row.time.toISOString() });
