import type { Pool } from "pg";
import { findSession, type SessionRow, toSession } from "./list-sessions.ts";
import type { SessionEntry, SessionUsage, UsageItem } from "./session-query.schema.ts";

const maxCalls = 1000;
/** Ten-minute slots that are looked at, and roughly how many rows of the log are read. */
const maxSlots = 100;
const maxScanned = 20_000;

/**
 * A session, and what its latest calls did: at most 1000 (LOG-1). The breakdown is read from rows of the log: sums of every
 * session by tool would be as many as the rows. The callers' slots say where these rows are.
 *
 * @returns null when the project has no such session. The caller has checked access to the project.
 */
export async function sessionUsage(
  pool: Pool,
  { projectId, sessionId }: { projectId: string; sessionId: string },
): Promise<{ session: SessionEntry; usage: SessionUsage } | null> {
  const row = await findSession(pool, projectId, sessionId);
  if (!row) return null;
  const windows = await windowsOf(pool, projectId, row);
  const data = windows.length > 0 ? await usageIn(pool, projectId, row, windows) : [];
  const counted = data.reduce((sum, { calls }) => sum + calls, 0);
  return { session: toSession(row), usage: { data, counted } };
}

type Slot = { first: Date; last: Date; calls: number; total: string };

/** The newest periods in which the session called, until they hold enough calls or too many rows of others. */
async function windowsOf(pool: Pool, projectId: string, row: SessionRow): Promise<Slot[]> {
  const { rows } = await pool.query<Slot>(
    `WITH slots AS MATERIALIZED (
       SELECT time, greatest(first_seen, $3) AS first, least(last_seen, $4) AS last, calls FROM request_log_caller_slot
       WHERE project_id = $1 AND caller_id = ANY($2::bigint[]) AND time >= date_bin('10 minutes', $3, 'epoch') AND time <= $4
         AND last_seen >= $3 AND first_seen <= $4
       ORDER BY time DESC LIMIT ${maxSlots}
     ), totals AS MATERIALIZED (
       SELECT time, sum(calls) AS total FROM request_log_ten_minutes
       WHERE project_id = $1 AND time = ANY(ARRAY(SELECT time FROM slots)) AND time >= date_bin('10 minutes', $3, 'epoch') AND time <= $4
       GROUP BY 1)
     SELECT first, last, calls, coalesce(total, 0) AS total FROM slots LEFT JOIN totals USING (time) ORDER BY time DESC`,
    [projectId, row.callerIds, row.firstSeen, row.lastSeen],
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

async function usageIn(pool: Pool, projectId: string, row: SessionRow, windows: readonly Slot[]): Promise<UsageItem[]> {
  const times = windows.flatMap(({ first, last }) => [first.getTime(), last.getTime()]);
  const own = row.session
    ? "session = $6"
    : `session IS NULL AND principal = $6 AND client_name IS NOT DISTINCT FROM $7
       AND client_version IS NOT DISTINCT FROM $8`;
  const { rows } = await pool.query<UsageItem>(
    `WITH newest AS (
       SELECT r.* FROM unnest($2::timestamptz[], $3::timestamptz[]) AS w (first, last) CROSS JOIN LATERAL (
         SELECT time, method, target, duration_ms, towpath_request_class(is_error, outcome, http_status) AS class
         FROM request_log WHERE project_id = $1 AND time >= w.first AND time <= w.last AND ${own}
           -- Plain parameters, so that the planner prunes the partitions of other days.
           AND time >= $4 AND time <= $5
         ORDER BY time DESC LIMIT ${maxCalls}) AS r
       WHERE class <> 2 ORDER BY time DESC LIMIT ${maxCalls})
     SELECT method, target, count(*)::int AS calls, (count(*) FILTER (WHERE class = 1))::int AS errors,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) AS "p50Ms",
       percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS "p95Ms"
     FROM newest GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
    [
      projectId,
      windows.map(({ first }) => first),
      windows.map(({ last }) => last),
      new Date(Math.min(...times)),
      new Date(Math.max(...times)),
      ...(row.session ? [row.session] : [row.principal, row.clientName, row.clientVersion]),
    ],
  );
  return rows;
}
