import type { finishedDayIndexes } from "../../fold/finished-days.ts";
import type { Conditions } from "../conditions.ts";
import type { LogQuery } from "../log-query.schema.ts";
import type { Reader } from "../reader.ts";

/** A period [from, to) in milliseconds. */
export type Window = { readonly from: number; readonly to: number };

/** A query, and the period in which its rows are still to be found. */
export type Scope = {
  readonly reader: Reader;
  readonly query: LogQuery;
  readonly period: Window;
  /** SQL of a further condition on each row. */
  readonly also?: (conditions: Conditions) => string;
};

/** An index of finished days that returns the rows of a few users, or of a target, in order of time. */
export type RowKey = {
  readonly index: keyof typeof finishedDayIndexes;
  readonly texts: readonly string[];
  /** Milliseconds: days before have the index. */
  readonly until: number;
};

/** Where the newest rows of a scope are. */
export type QueryPlan = {
  /** Contain every match since `since`, newest first, without overlaps. */
  readonly windows: readonly Window[];
  /** Milliseconds; the beginning of the period if nothing older matches. */
  readonly since: number;
  /** Columns that can contain the search; absent: all searched columns. */
  readonly searched?: readonly string[];
  /** Index for the rows of the windows; absent: the one by time. */
  readonly key?: RowKey;
};

/** Locates about `count` of the newest rows of a scope; null if it can't. */
export type Locator = (scope: Scope, count: number) => Promise<QueryPlan | null>;

export const isWhole = (plan: QueryPlan, period: Window): boolean => plan.since <= period.from;

/** The union of several plans: complete where each of them is. */
export function unionOf(plans: readonly QueryPlan[], period: Window): QueryPlan {
  const since = Math.max(period.from, ...plans.map((plan) => plan.since));
  const windows = plans
    .flatMap((plan) => plan.windows)
    .map(({ from, to }) => ({ from: Math.max(from, since), to: Math.min(to, period.to) }))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => b.to - a.to);
  const merged: Window[] = [];
  for (const window of windows) {
    const last = merged.at(-1);
    if (last && window.to >= last.from)
      merged[merged.length - 1] = { from: Math.min(last.from, window.from), to: last.to };
    else merged.push(window);
  }
  return { windows: merged, since };
}

/** The overlap of both plans' windows. */
export function intersectionOf(one: QueryPlan, other: QueryPlan): QueryPlan {
  const since = Math.max(one.since, other.since);
  const windows: Window[] = [];
  for (let i = 0, j = 0; ; ) {
    const [a, b] = [one.windows[i], other.windows[j]];
    if (!a || !b) return { ...one, ...other, windows, since };
    const both = { from: Math.max(a.from, b.from, since), to: Math.min(a.to, b.to) };
    if (both.from < both.to) windows.push(both);
    if (a.from >= b.from) i++;
    else j++;
  }
}

/** Periods of unfolded rows: their names aren't stored yet. */
export async function unfoldedRows({ reader, query, period }: Scope): Promise<QueryPlan> {
  const { rows } = await reader.query<{ first: Date; beyond: Date }>(
    "SELECT first_minute AS first, last_minute + interval '1 minute' AS beyond FROM request_log_delta WHERE project_id = $1",
    [query.projectId],
  );
  return {
    windows: rows.map(({ first, beyond }) => ({ from: first.getTime(), to: beyond.getTime() })),
    since: period.from,
  };
}
