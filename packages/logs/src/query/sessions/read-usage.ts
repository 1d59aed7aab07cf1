import type { Pool } from "pg";
import type { UsageItem } from "./session-query.schema.ts";

/** Whose calls: the callers' rows of `request_log_caller`, and the columns of the log that tell their calls from others'. */
export type Subject = {
  readonly projectId: string;
  readonly callerIds: readonly string[];
  readonly from: Date;
  readonly to: Date;
  readonly own: Readonly<Partial<Record<"session" | "principal" | "client_name" | "client_version", string | null>>>;
};

/** Ten-minute slots that are looked at, and roughly how many rows of the log are read. */
const maxSlots = 100;
const maxScanned = 20_000;

/**
 * What the latest calls of a caller did, at most `maxCalls`, most frequent first. Read from rows of the log: sums of every caller by tool
 * would be as many as the rows. The callers' slots say where these rows are. Calls that the gateway refused are left out.
 */
export async function readUsage(pool: Pool, subject: Subject, maxCalls: number): Promise<UsageItem[]> {
  const windows = await windowsOf(pool, subject, maxCalls);
  if (windows.length === 0) return [];
  const values: unknown[] = [
    subject.projectId,
    windows.map(({ first }) => first),
    windows.map(({ last }) => last),
    new Date(Math.min(...windows.map(({ first }) => first.getTime()))),
    new Date(Math.max(...windows.map(({ last }) => last.getTime()))),
  ];
  const own = Object.entries(subject.own).map(([column, value]) =>
    value === null ? `${column} IS NULL` : `${column} = $${values.push(value)}`,
  );
  const { rows } = await pool.query<UsageItem>(
    `WITH newest AS (
       SELECT r.* FROM unnest($2::timestamptz[], $3::timestamptz[]) AS w (first, last) CROSS JOIN LATERAL (
         SELECT time, method, target, duration_ms, towpath_request_class(is_error, outcome, http_status) AS class
         FROM request_log WHERE project_id = $1 AND time >= w.first AND time <= w.last AND ${own.join(" AND ")}
           -- Plain parameters, so that the planner prunes the partitions of other days.
           AND time >= $4 AND time <= $5
         ORDER BY time DESC LIMIT ${maxCalls}) AS r
       WHERE class < 2 ORDER BY time DESC LIMIT ${maxCalls})
     SELECT method, target, count(*)::int AS calls, (count(*) FILTER (WHERE class = 1))::int AS errors,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) AS "p50Ms",
       percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS "p95Ms"
     FROM newest GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
    values,
  );
  return rows;
}

type Slot = { first: Date; last: Date; calls: number; total: string };

/** The newest periods with calls of the callers, until they hold enough calls or too many rows of others. */
async function windowsOf(pool: Pool, { projectId, callerIds, from, to }: Subject, maxCalls: number): Promise<Slot[]> {
  const { rows } = await pool.query<Slot>(
    `WITH slots AS MATERIALIZED (
       SELECT time, greatest(min(first_seen), $3) AS first, least(max(last_seen), $4) AS last, sum(calls)::int AS calls
       FROM request_log_caller_slot
       WHERE project_id = $1 AND caller_id = ANY($2::bigint[]) AND time >= date_bin('10 minutes', $3, 'epoch') AND time <= $4
         AND last_seen >= $3 AND first_seen <= $4
       GROUP BY time ORDER BY time DESC LIMIT ${maxSlots}
     ), totals AS MATERIALIZED (
       SELECT time, sum(calls) AS total FROM request_log_ten_minutes
       WHERE project_id = $1 AND time = ANY(ARRAY(SELECT time FROM slots)) AND time >= date_bin('10 minutes', $3, 'epoch') AND time <= $4
       GROUP BY 1)
     SELECT first, last, calls, coalesce(total, 0) AS total FROM slots LEFT JOIN totals USING (time) ORDER BY time DESC`,
    [projectId, callerIds, from, to],
  );
  const windows: Slot[] = [];
  let calls = 0;
  let scanned = 0;
  for (const slot of rows) {
    scanned += (Number(slot.total) * (slot.last.getTime() - slot.first.getTime())) / 600_000;
    if (windows.length > 0 && (calls >= maxCalls || scanned > maxScanned)) break;
    calls += slot.calls;
    windows.push(slot);
  }
  return windows;
}
