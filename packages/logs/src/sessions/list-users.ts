import type { Pool } from "pg";
import { courseOf, courseStep, stepSql } from "../course.ts";
import { Conditions } from "../log-filter.ts";
import type { TimeRange } from "../log-query.schema.ts";
import { timeRangeMs } from "../log-search.ts";
import { activeIn, pageOf } from "./list-sessions.ts";
import {
  type ActivityListInput,
  type ActivityPage,
  activityListSchema,
  type UserEntry,
} from "./session-query.schema.ts";

type Row = Omit<UserEntry, "firstSeen" | "lastSeen" | "calls" | "errors" | "course"> & {
  id: string;
  firstSeen: Date;
  lastSeen: Date;
  calls: string;
  errors: string;
  course: { step: number; calls: number }[];
};

const columns = `u.id, u.principal, u.first_seen AS "firstSeen", u.last_seen AS "lastSeen", u.client_name AS "clientName",
  u.client_version AS "clientVersion"`;
const hourMs = 3_600_000;
/** Its calls since `from`, an SQL expression, altogether and by steps. */
const callsSince = (from: string, timeRange: TimeRange) => `
  CROSS JOIN LATERAL (SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(errors), 0) AS errors,
      coalesce(json_agg(json_build_object('step', step, 'calls', calls)), '[]') AS course FROM (
    SELECT ${stepSql("h.time", courseStep(timeRange, hourMs))} AS step, sum(h.calls) AS calls, sum(h.errors) AS errors
    FROM request_log_user_hour h WHERE h.project_id = u.project_id AND h.user_id = u.id
      AND h.time >= date_bin('1 hour', ${from}, 'epoch') GROUP BY 1) AS steps) AS c`;

/**
 * A page of the principals that called a project, most recently active first (PRJ-6, LOG-1).
 *
 * @throws ZodError for invalid input. The caller has checked access to the project.
 */
export async function listUsers(pool: Pool, input: ActivityListInput): Promise<ActivityPage<UserEntry>> {
  const query = activityListSchema.parse(input);
  const conditions = new Conditions();
  const all = [`project_id = ${conditions.value(query.projectId)}`, ...activeIn(query, "id", conditions)];
  const from = conditions.value(new Date(Date.now() - timeRangeMs[query.timeRange]));
  const { rows } = await pool.query<Row>(
    `SELECT ${columns}, c.calls, c.errors, c.course FROM (SELECT * FROM request_log_user WHERE ${all.join(" AND ")}
       ORDER BY last_slot DESC, last_seen DESC, id DESC LIMIT ${query.limit}) AS u ${callsSince(`${from}::timestamptz`, query.timeRange)}
     ORDER BY u.last_seen DESC, u.id DESC`,
    conditions.values,
  );
  return pageOf(rows, query.limit, toUser(query.timeRange), ({ lastSeen, id }) => ({ lastSeen, key: id }));
}

/** A principal that called the project, with its calls in the range; null when it never did. */
export async function readUser(
  pool: Pool,
  { projectId, principal, timeRange }: { projectId: string; principal: string; timeRange: TimeRange },
): Promise<UserEntry | null> {
  const { rows } = await pool.query<Row>(
    `SELECT ${columns}, c.calls, c.errors, c.course FROM request_log_user u ${callsSince("$3::timestamptz", timeRange)}
     WHERE u.project_id = $1 AND u.id = hashtextextended($2, 0) AND u.principal = $2`,
    [projectId, principal, new Date(Date.now() - timeRangeMs[timeRange])],
  );
  return rows[0] ? toUser(timeRange)(rows[0]) : null;
}

const toUser =
  (timeRange: TimeRange) =>
  ({ id: _id, firstSeen, lastSeen, calls, errors, course, ...rest }: Row): UserEntry => ({
    ...rest,
    firstSeen: firstSeen.toISOString(),
    lastSeen: lastSeen.toISOString(),
    calls: Number(calls),
    errors: Number(errors),
    course: courseOf(course, { timeRange, stepMs: courseStep(timeRange, hourMs), now: Date.now() }),
  });
