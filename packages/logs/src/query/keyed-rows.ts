import type { Pool } from "pg";
import { asksForSeries } from "./caller-windows.ts";
import { finishedDayIndexes, indexedUntil } from "../fold/finished-days.ts";
import type { Window } from "./series-windows.ts";
import { Conditions } from "./conditions.ts";
import type { LogQuery } from "./log-query.schema.ts";
import { nameCondition } from "./sums.ts";

/** A target with more rows than these isn't found by its index: all of them might be other callers'. */
const maxRowsOfTarget = 10_000;
/** So few rows are found by the minutes in which they are, whatever else is in these. */
const maxMinutesRead = 100;
/** Each is looked for by itself. */
const maxUsers = 10;

/** How finished days find the rows of some users or of a target, in the order of time. */
export type KeyedRows = {
  /** Up to there (milliseconds) the index finds them. */
  readonly until: number;
  readonly index: keyof typeof finishedDayIndexes;
  readonly texts: readonly string[];
};

/**
 * Whether a page of some users' or clients' calls, or of a rare target's, is best read by an index of finished days: a
 * minute that has such a row has many more of others. Null: it isn't, or the first day of the period has no index yet.
 */
export async function keyedRows(pool: Pool, query: LogQuery, period: Window): Promise<KeyedRows | null> {
  const { principals = [], clientName, session } = query;
  const target = query.toolName ?? query.target;
  const areUsersFew = principals.length > 0 && principals.length <= maxUsers && clientName === undefined;
  // A session, and a client's sessions, are found by the periods in which they were.
  if (session !== undefined || (target === undefined && !areUsersFew)) return null;
  const until = await indexedUntil(pool, period);
  if (until === null) return null;
  if (asksForSeries(query)) {
    const calls = await countCalls(pool, query, target, period);
    if (calls <= maxMinutesRead) return null;
    if (target !== undefined && calls <= maxRowsOfTarget) return { until, index: "target", texts: [target] };
  }
  return areUsersFew ? { until, index: "principal", texts: principals } : null;
}

/** Calls of a target, or of what a query asks for besides callers. By whole half days: whether they are few is what matters. */
async function countCalls(pool: Pool, query: LogQuery, target: string | undefined, { from }: Window): Promise<number> {
  const conditions = new Conditions();
  const project = conditions.value(query.projectId);
  const named =
    target === undefined
      ? nameCondition({ ...query, search: undefined }, conditions, "k")
      : `k.target = ${conditions.value(target)}`;
  const { rows } = await pool.query<{ calls: string }>(
    `SELECT coalesce(sum(calls), 0) AS calls FROM request_log_half_day
     WHERE project_id = ${project} AND time >= ${conditions.value(new Date(from))} AND series_id = ANY(ARRAY(
       SELECT id FROM request_log_series AS k WHERE project_id = ${project} AND ${named}))`,
    conditions.values,
  );
  return Number(rows[0]?.calls ?? 0);
}

/** The condition by which the index finds the rows of a text that `hash` is the hash of. */
export function keyCondition(index: keyof typeof finishedDayIndexes, hash: string): string {
  return `${index} IS NOT NULL AND ${finishedDayIndexes[index].expression} = ${hash}`;
}
