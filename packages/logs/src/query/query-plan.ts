import type { Pool } from "pg";
import type { Window } from "./series-windows.ts";
import type { LogQuery } from "./log-query.schema.ts";

/** Windows that contain every match since `since` (milliseconds); null: every match there is. */
export type Found = { readonly windows: readonly Window[]; readonly since: number | null };
export type Period = Window & { readonly now: number };

/** The end of a period as a parameter. */
export const endOf = (to: number | null) => (to === null ? "infinity" : new Date(to));

/** Periods of unfolded rows, whose names aren't stored yet. */
export async function notFolded(pool: Pool, { projectId }: LogQuery): Promise<Found> {
  const { rows } = await pool.query<{ first: Date; last: Date }>(
    "SELECT first_minute AS first, last_minute + interval '1 minute' AS last FROM request_log_delta WHERE project_id = $1",
    [projectId],
  );
  return { windows: rows.map(({ first, last }) => ({ from: first.getTime(), to: last.getTime() })), since: null };
}

/** What several parts found together: complete only where each part is. */
export function unionOf(parts: readonly Found[], period: Window): Found {
  const since = Math.max(...parts.map((part) => part.since ?? Number.NEGATIVE_INFINITY));
  const windows = parts.flatMap((part) => part.windows);
  return {
    windows: merged(windows, { from: Math.max(period.from, since), to: period.to }),
    since: Number.isFinite(since) ? since : null,
  };
}

/** What lies in windows of both, newest first. Each list is in order and without overlaps. */
export function intersectionOf(a: readonly Window[], b: readonly Window[]): Window[] {
  const both: Window[] = [];
  const endOfWindow = ({ to }: Window) => to ?? Number.POSITIVE_INFINITY;
  for (let i = 0, j = 0; ; ) {
    const [first, second] = [a[i], b[j]];
    if (!first || !second) return both;
    const from = Math.max(first.from, second.from);
    const to = Math.min(endOfWindow(first), endOfWindow(second));
    if (from < to) both.push({ from, to: Number.isFinite(to) ? to : null });
    if (first.from >= second.from) i++;
    else j++;
  }
}

/** Sorts windows newest first, merges overlapping ones and clips them to the period. */
function merged(windows: readonly Window[], period: Window): Window[] {
  const end = period.to === null ? Number.POSITIVE_INFINITY : period.to + 1;
  const cut = windows
    .map(({ from, to }) => ({ from: Math.max(from, period.from), to: Math.min(to ?? end, end) }))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => b.to - a.to);
  const result: { from: number; to: number }[] = [];
  for (const window of cut) {
    const last = result.at(-1);
    if (last && window.to >= last.from) last.from = Math.min(last.from, window.from);
    else result.push(window);
  }
  return result;
}
