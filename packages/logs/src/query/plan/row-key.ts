import { dayMs, finishedDayIndexes, readLogDays } from "../../fold/finished-days.ts";
import { Conditions } from "../conditions.ts";
import type { Reader } from "../reader.ts";
import type { RowKey, Scope, Window } from "./query-plan.ts";

type IndexName = RowKey["index"];

/** Users or targets with more calls than these aren't found by an index: all of them might be others'. */
const maxRows = 10_000;
/** Enough to know that these callers have more calls. */
const maxCallersCounted = 5000;
/** Each is looked for by itself. */
const maxUsers = 10;

/**
 * The index that finds a query's rows: a minute that has one of a rare user or target has many more of others. Null:
 * they aren't rare, or the first day of the period isn't indexed. A session is found by the periods in which it was.
 */
export async function findRowKey({ reader, query, period }: Scope): Promise<RowKey | null> {
  const { principals = [], session } = query;
  const target = query.toolName ?? query.target;
  const users = principals.length <= maxUsers ? principals : [];
  if (session !== undefined || (target === undefined && users.length === 0)) return null;
  const until = await indexedUntil(reader, period);
  if (until <= period.from) return null;
  const conditions = new Conditions();
  const project = conditions.value(query.projectId);
  const { rows } = await reader.query<{ principal: number | null; target: number | null }>(
    `SELECT (SELECT sum(calls)::float8 FROM (SELECT calls FROM request_log_caller
         WHERE project_id = ${project} AND principal = ANY(${conditions.value(users)}::text[])
         LIMIT ${maxCallersCounted}) AS c HAVING count(*) < ${maxCallersCounted}) AS principal,
       (SELECT coalesce(sum(calls), 0)::float8 FROM request_log_half_day
         WHERE project_id = ${project} AND time >= ${conditions.value(new Date(period.from))} AND series_id = ANY(ARRAY(
           SELECT id FROM request_log_series WHERE project_id = ${project} AND target = ${conditions.value(target)})))
         AS target`,
    conditions.values,
  );
  const keys: [IndexName, readonly string[]][] = [
    ["principal", users],
    ["target", target === undefined ? [] : [target]],
  ];
  const [rarest] = keys
    .map(([index, texts]) => ({ index, texts, until, calls: rows[0]?.[index] ?? maxRows + 1 }))
    .filter(({ texts, calls }) => texts.length > 0 && calls <= maxRows)
    .sort((a, b) => a.calls - b.calls);
  return rarest ?? null;
}

/** The condition by which the index finds the rows of a text, an SQL expression. */
export const keyCondition = (index: IndexName, text: string): string =>
  `${index} IS NOT NULL AND ${finishedDayIndexes[index].expression} = hashtextextended(${text}, 0)`;

/** How far into a period (milliseconds) all of its days are indexed. */
async function indexedUntil(reader: Reader, { from }: Window): Promise<number> {
  const days = await readLogDays(reader, from);
  const open = days.findIndex(({ isIndexed }) => !isIndexed);
  const last = (open === -1 ? days : days.slice(0, open)).at(-1);
  return last ? last.from + dayMs : Number.NEGATIVE_INFINITY;
}
