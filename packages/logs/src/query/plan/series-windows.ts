import { asksForCallers, asksForSums } from "../conditions.ts";
import { ceilToMinute, floorToMinute, spansOf } from "../spans.ts";
import { type Counted, countPeriods, countWithin } from "../sums.ts";
import type { QueryPlan, Scope } from "./query-plan.ts";

/** Periods with more rows per match than this are narrowed down to shorter ones before they are read. */
const maxReadPerRow = 40;

/** Finds rows by their names, classes and durations, ignoring the search. */
export async function seriesWindows(scope: Scope, count: number): Promise<QueryPlan | null> {
  const query = { ...scope.query, search: undefined };
  const isOther = asksForCallers(query) || scope.query.search;
  return asksForSums(query) || (query.withoutProtocol && !isOther) ? summedWindows({ ...scope, query }, count) : null;
}

/** Finds rows by the sums of their series: for a search, of series with the text in their method or target. */
export async function summedWindows(scope: Scope, count: number): Promise<QueryPlan> {
  const { query, period } = scope;
  const spans = spansOf(floorToMinute(period.from), ceilToMinute(period.to));
  let { periods } = await countPeriods(scope.reader, query, spans);
  let since = period.from;
  for (;;) {
    const newest = newestOf(periods, count);
    if (newest.length < periods.length) since = Math.max(since, newest.at(-1)?.from ?? since);
    const sparse = newest.filter(({ level, total, matching }) => level > 0 && total > maxReadPerRow * matching);
    if (sparse.length === 0) return { windows: windowsOf(newest, scope), since };
    const finer = await countWithin(scope.reader, query, sparse);
    periods = [...newest.filter((each) => !sparse.includes(each)), ...finer].sort((a, b) => b.from - a.from);
  }
}

/** The newest periods with `count` matches together. */
function newestOf(periods: readonly Counted[], count: number): readonly Counted[] {
  let found = 0;
  const last = periods.findIndex(({ matching }) => {
    found += matching;
    return found >= count;
  });
  return last === -1 ? periods : periods.slice(0, last + 1);
}

/** Adjacent periods as one window. */
function windowsOf(periods: readonly Counted[], { period }: Scope) {
  const windows: { from: number; to: number }[] = [];
  for (const each of periods) {
    const last = windows.at(-1);
    const from = Math.max(each.from, period.from);
    if (last && last.from === each.to) last.from = from;
    else windows.push({ from, to: Math.min(each.to, period.to) });
  }
  return windows;
}
