import { dayMs, finishedDayIndexes, readLogDays } from "../../fold/finished-days.ts";
import type { Reader } from "../reader.ts";
import type { RowKey, Scope, Window } from "./query-plan.ts";

type IndexName = RowKey["index"];

/** Users or targets with more calls than this aren't read by an index. */
const maxRows = 10_000;
/** Enough to know that these callers have more calls. */
const maxCallersCounted = 5000;
/** Each is looked up separately. */
const maxUsers = 10;

/**
 * The index for a query's rows: a minute with a row of a rare user or target has many more rows of others. Null: they
 * aren't rare, or the first day of the period isn't indexed. A session is found by its periods.
 */
export async function findRowKey({ reader, query, period }: Scope): Promise<RowKey | null> {
  const { principals = [], session } = query;
  const target = query.toolName ?? query.target;
  const users = principals.length <= maxUsers ? principals : [];
  if (session !== undefined || (target === undefined && users.length === 0)) return null;
  const until = await indexedUntil(reader, period);
  if (until <= period.from) return null;
  const [calls, targetCalls] = await Promise.all([
    users.length === 0 ? maxRows + 1 : callsOfUsers(reader, query.projectId, users),
    target === undefined ? maxRows + 1 : callsOfTarget(reader, query.projectId, target, period),
  ]);
  if (Math.min(calls, targetCalls) > maxRows) return null;
  return target === undefined || calls <= targetCalls
    ? { index: "principal", texts: users, until }
    : { index: "target", texts: [target], until };
}

async function callsOfUsers(reader: Reader, projectId: string, users: readonly string[]): Promise<number> {
  const { rows } = await reader.query<{ calls: number | null; callers: number }>(
    `SELECT sum(calls)::float8 AS calls, count(*)::int AS callers FROM (SELECT calls FROM request_log_caller
       WHERE project_id = $1 AND principal = ANY($2::text[]) LIMIT ${maxCallersCounted}) AS c`,
    [projectId, users],
  );
  const { calls, callers = 0 } = rows[0] ?? {};
  return callers < maxCallersCounted ? (calls ?? 0) : Number.POSITIVE_INFINITY;
}

/** By whole half days: it only has to show whether they are few. */
async function callsOfTarget(reader: Reader, projectId: string, target: string, { from }: Window): Promise<number> {
  const { rows } = await reader.query<{ calls: number | null }>(
    `SELECT sum(calls)::float8 AS calls FROM request_log_half_day WHERE project_id = $1 AND time >= $2
       AND series_id = ANY(ARRAY(SELECT id FROM request_log_series WHERE project_id = $1 AND target = $3))`,
    [projectId, new Date(from), target],
  );
  return rows[0]?.calls ?? 0;
}

/** The condition for which the index finds the rows of a text, an SQL expression. */
export const keyCondition = (index: IndexName, text: string): string =>
  `${index} IS NOT NULL AND ${finishedDayIndexes[index].expression} = hashtextextended(${text}, 0)`;

/** Up to where in a period (milliseconds) all days are indexed. */
async function indexedUntil(reader: Reader, { from }: Window): Promise<number> {
  const days = await readLogDays(reader, from);
  const open = days.findIndex(({ isIndexed }) => !isIndexed);
  const last = (open === -1 ? days : days.slice(0, open)).at(-1);
  return last ? last.from + dayMs : Number.NEGATIVE_INFINITY;
}
