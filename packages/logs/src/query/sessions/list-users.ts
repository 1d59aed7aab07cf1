import { Conditions } from "../conditions.ts";
import { courseOf, courseStep, stepSql } from "../course.ts";
import type { TimeRange } from "../log-query.schema.ts";
import { timeRangeMs } from "../log-search.ts";
import type { Reader } from "../reader.ts";
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
/**
 * Users with their calls since `from`, in total and by steps, most recently active first. `users`: SQL of their rows;
 * `project` and `from`: SQL expressions. One index scan for all of them: one for each user takes three times as long.
 */
const withCalls = (
  users: string,
  { project, from, timeRange }: { readonly project: string; readonly from: string; readonly timeRange: TimeRange },
) => `
  WITH u AS MATERIALIZED (${users}), steps AS (
    SELECT h.user_id, ${stepSql("h.time", courseStep(timeRange, hourMs))} AS step, sum(h.calls) AS calls, sum(h.errors) AS errors
    FROM request_log_user_hour h WHERE h.project_id = ${project} AND h.user_id = ANY(ARRAY(SELECT id FROM u))
      AND h.time >= date_bin('1 hour', ${from}::timestamptz, 'epoch') GROUP BY 1, 2
  ), sums AS (
    SELECT user_id, sum(calls) AS calls, sum(errors) AS errors,
      json_agg(json_build_object('step', step, 'calls', calls)) AS course FROM steps GROUP BY 1)
  SELECT ${columns}, coalesce(s.calls, 0) AS calls, coalesce(s.errors, 0) AS errors, coalesce(s.course, '[]') AS course
  FROM u LEFT JOIN sums s ON s.user_id = u.id ORDER BY u.last_seen DESC, u.id DESC`;

/**
 * A page of the principals that called a project, most recently active first (PRJ-6, LOG-1).
 *
 * @throws ZodError for invalid input. The caller has checked access to the project.
 */
export async function listUsers(reader: Reader, input: ActivityListInput): Promise<ActivityPage<UserEntry>> {
  const query = activityListSchema.parse(input);
  const conditions = new Conditions();
  const project = conditions.value(query.projectId);
  const all = [`project_id = ${project}`, ...activeIn(query, "id", conditions)];
  const from = conditions.value(new Date(Date.now() - timeRangeMs[query.timeRange]));
  const users = `SELECT * FROM request_log_user WHERE ${all.join(" AND ")}
    ORDER BY last_slot DESC, last_seen DESC, id DESC LIMIT ${query.limit}`;
  const { rows } = await reader.query<Row>(
    withCalls(users, { project, from, timeRange: query.timeRange }),
    conditions.values,
  );
  return pageOf(rows, query.limit, toUser(query.timeRange), ({ lastSeen, id }) => ({ lastSeen, key: id }));
}

/** A principal that called the project, with its calls in the range; null if it never did. */
export async function readUser(
  reader: Reader,
  { projectId, principal, timeRange }: { projectId: string; principal: string; timeRange: TimeRange },
): Promise<UserEntry | null> {
  const users =
    "SELECT * FROM request_log_user WHERE project_id = $1 AND id = hashtextextended($2, 0) AND principal = $2";
  const { rows } = await reader.query<Row>(withCalls(users, { project: "$1", from: "$3", timeRange }), [
    projectId,
    principal,
    new Date(Date.now() - timeRangeMs[timeRange]),
  ]);
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
