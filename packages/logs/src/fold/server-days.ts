import type { Pool } from "pg";
import { Conditions } from "../query/conditions.ts";
import { figuresOf, percentilesOf } from "../query/figures.ts";
import { logQuerySchema } from "../query/log-query.schema.ts";
import type { Reader } from "../query/reader.ts";
import { spansOf } from "../query/spans.ts";
import { sumsSql } from "../query/sums.ts";
import { dayMs } from "./finished-days.ts";

/** How long after the end of a day it is counted as a whole: gateways may send rows late. */
const lateMs = 3_600_000;
/** The newest rows are counted the next time: they may still be on their way. */
const settleMs = 120_000;

/** What callers got of a server on a day. */
export type ServerDay = {
  readonly projectId: string;
  /** `2026-11-27`, in UTC. */
  readonly day: string;
  readonly calls: number;
  /** Calls that the server didn't answer, or with an HTTP status of 500 or more. */
  readonly unanswered: number;
  /** Milliseconds; null without calls. */
  readonly p95Ms: number | null;
};

/**
 * Counts the days of public servers in organizations that have a status page: finished days as far as the request log
 * reaches once, and today each time. Several processes may do so at the same time.
 *
 * @returns how many days were counted
 */
export async function countServerDays(
  pool: Pool,
  { now, signal }: { now: Date; signal?: AbortSignal },
): Promise<number> {
  const { rows: due } = await pool.query<DueDay>(dueSql, [now]);
  let counted = 0;
  for (const day of due) {
    if (signal?.aborted) break;
    await countDay(pool, day, now.getTime());
    counted++;
  }
  return counted;
}

type DueDay = { readonly projectId: string; readonly day: string; readonly countedTo: Date | null };

const dueSql = `
  SELECT p.id AS "projectId", to_char(d.day, 'YYYY-MM-DD') AS day, counted.counted_to AS "countedTo"
  FROM project p JOIN organization o ON o.id = p.organization_id
    CROSS JOIN LATERAL generate_series(
      (greatest($1::timestamptz - interval '29 days', p.created_at) AT TIME ZONE 'UTC')::date,
      ($1::timestamptz AT TIME ZONE 'UTC')::date, interval '1 day') d(day)
    LEFT JOIN server_day counted ON counted.project_id = p.id AND counted.day = d.day::date
  WHERE o.has_status_page AND p.is_public AND counted.is_final IS NOT TRUE
  ORDER BY d.day DESC, p.id`;

async function countDay(pool: Pool, { projectId, day, countedTo }: DueDay, now: number): Promise<void> {
  const start = Date.parse(`${day}T00:00:00Z`);
  const end = start + dayMs;
  const isFinal = now >= end + lateMs;
  // Rows have no index by status: a day that lasts is read in pieces, and once more as a whole when it has ended.
  const from = isFinal || countedTo === null ? start : countedTo.getTime();
  const to = Math.max(from, Math.min(end, now - settleMs));
  const [{ calls, p95Ms }, unanswered] = await Promise.all([
    readLatency(pool, projectId, [start, end]),
    countUnanswered(pool, projectId, [from, to]),
  ]);
  await pool.query(
    `INSERT INTO server_day AS known (project_id, day, calls, unanswered, p95_ms, counted_to, is_final)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (project_id, day) DO UPDATE SET calls = excluded.calls, p95_ms = excluded.p95_ms,
       unanswered = excluded.unanswered + CASE WHEN excluded.is_final THEN 0 ELSE known.unanswered END,
       counted_to = excluded.counted_to, is_final = excluded.is_final
     WHERE NOT known.is_final AND known.counted_to IS NOT DISTINCT FROM $8`,
    [projectId, day, calls, unanswered, p95Ms, new Date(to), isFinal, countedTo],
  );
}

/** [from, to) in milliseconds. */
type Period = readonly [from: number, to: number];
const asDates = ([from, to]: Period) => [new Date(from), new Date(to)];

/** Calls that a server was asked for: those that the gateway refused are left out. */
async function readLatency(reader: Reader, projectId: string, [from, to]: Period) {
  const conditions = new Conditions();
  const cells = sumsSql(logQuerySchema.parse({ projectId }), conditions, spansOf(from, to), () => "true");
  const group = { by: "true", where: "class IN (0, 1)", hasLatency: true };
  const { all } = await figuresOf(reader, { cells, conditions }, { all: group });
  return { calls: all[0]?.calls ?? 0, p95Ms: percentilesOf(all[0]).p95Ms };
}

async function countUnanswered(reader: Reader, projectId: string, period: Period): Promise<number> {
  const { rows } = await reader.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM request_log
     WHERE project_id = $1 AND time >= $2 AND time < $3 AND principal <> 'check' AND (http_status >= 500 OR outcome = 'closed_by_server')`,
    [projectId, ...asDates(period)],
  );
  return rows[0]?.count ?? 0;
}

/** The days of servers since a day (`2026-11-27`), the oldest first. Days without a row weren't counted. */
export async function readServerDays(
  reader: Reader,
  projectIds: readonly string[],
  since: string,
): Promise<readonly ServerDay[]> {
  const { rows } = await reader.query<ServerDay>(
    `SELECT project_id AS "projectId", to_char(day, 'YYYY-MM-DD') AS day, calls::float8 AS calls,
       unanswered::float8 AS unanswered, p95_ms AS "p95Ms"
     FROM server_day WHERE project_id = ANY($1) AND day >= $2 ORDER BY day`,
    [projectIds, since],
  );
  return rows;
}
