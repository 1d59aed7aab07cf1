import type { z } from "zod";
import type { ActivityPeriod } from "../../fold/sessions.sql.ts";
import type { TimeRange } from "../log-query.schema.ts";
import { timeRangeMs } from "../log-search.ts";
import type { Reader } from "../reader.ts";
import {
  type ActivityTimeseries,
  activityStatsSchema,
  type SessionStats,
  timeseriesSchema,
  type UserStats,
} from "./session-query.schema.ts";

/** The stored periods for a chart of each range: at most 36 of them. */
const periods: Readonly<Record<TimeRange, ActivityPeriod>> = {
  "15m": 600,
  "1h": 600,
  "6h": 600,
  "24h": 3600,
  "7d": 21_600,
  "30d": 86_400,
};

type Timeseries = z.input<typeof timeseriesSchema>;

/** How many sessions started in each period of the range (LOG-1). */
export const sessionTimeseries = (reader: Reader, input: Timeseries): Promise<ActivityTimeseries> =>
  timeseries(
    reader,
    input,
    () => "SELECT time, begun AS count FROM request_log_activity WHERE project_id = $1 AND seconds = $2 AND time >= $3",
  );

/** How many principals called in each period of the range (LOG-1). */
export const userTimeseries = (reader: Reader, input: Timeseries): Promise<ActivityTimeseries> =>
  timeseries(reader, input, (seconds) =>
    seconds >= 3600
      ? "SELECT time, users AS count FROM request_log_activity WHERE project_id = $1 AND seconds = $2 AND time >= $3"
      : `SELECT s.time, count(DISTINCT c.principal)::int AS count FROM request_log_caller_slot s
         JOIN request_log_caller c ON c.project_id = s.project_id AND c.id = s.caller_id
         WHERE s.project_id = $1 AND $2::int = 600 AND s.time >= $3 AND s.calls > s.refused AND NOT c.is_overflow GROUP BY 1`,
  );

async function timeseries(
  reader: Reader,
  input: Timeseries,
  sql: (seconds: ActivityPeriod) => string,
): Promise<ActivityTimeseries> {
  const { projectId, timeRange } = timeseriesSchema.parse(input);
  const now = Date.now();
  const seconds = periods[timeRange];
  const bucketMs = seconds * 1000;
  const first = Math.floor((now - timeRangeMs[timeRange]) / bucketMs) * bucketMs;
  const { rows } = await reader.query<{ time: Date; count: number }>(sql(seconds), [
    projectId,
    seconds,
    new Date(first),
  ]);
  const found = new Map(rows.map(({ time, count }) => [time.getTime(), count]));
  const data: ActivityTimeseries["data"] = [];
  for (let at = first; at <= now; at += bucketMs)
    data.push({ start: new Date(at).toISOString(), count: found.get(at) ?? 0 });
  return { bucketMs, data };
}

type Stats = z.input<typeof activityStatsSchema>;

/** Sessions that were active in the range, counted by whole ten minutes (LOG-1). */
export async function sessionStats(reader: Reader, input: Stats): Promise<SessionStats> {
  const { projectId, timeRange } = activityStatsSchema.parse(input);
  const { rows } = await reader.query<{ sessions: number; calls: number; ms: number }>(
    `SELECT coalesce(sum(ended), 0)::float8 AS sessions, sum(ended_calls)::float8 AS calls, sum(ended_ms)::float8 AS ms
     FROM request_log_activity WHERE project_id = $1 AND seconds = 600 AND time >= date_bin('10 minutes', $2, 'epoch')`,
    [projectId, new Date(Date.now() - timeRangeMs[timeRange])],
  );
  const { sessions = 0, calls = 0, ms = 0 } = rows[0] ?? {};
  if (sessions === 0) return { sessions, callsPerSession: null, durationMs: null };
  return { sessions, callsPerSession: calls / sessions, durationMs: ms / sessions };
}

/** Principals that called in the range, and those that called for the first time (LOG-1). */
export async function userStats(reader: Reader, input: Stats): Promise<UserStats> {
  const { projectId, timeRange } = activityStatsSchema.parse(input);
  const { rows } = await reader.query<UserStats>(
    `SELECT count(*)::int AS users, count(*) FILTER (WHERE first_seen >= $2)::int AS "newUsers" FROM request_log_user
     WHERE project_id = $1 AND last_slot >= date_bin('10 minutes', $2, 'epoch') AND last_seen >= $2`,
    [projectId, new Date(Date.now() - timeRangeMs[timeRange])],
  );
  return rows[0] ?? { users: 0, newUsers: 0 };
}
