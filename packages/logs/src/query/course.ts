import type { TimeRange } from "./log-query.schema.ts";
import { timeRangeMs } from "./log-search.ts";
import type { RollupLevel } from "./spans.ts";

const minute = 60_000;
const hour = 60 * minute;

/** Step of a series over a range, and the level of roll-ups whose periods fit. */
const steps: Readonly<Record<TimeRange, { readonly ms: number; readonly level: RollupLevel }>> = {
  "15m": { ms: minute, level: 0 },
  "1h": { ms: 5 * minute, level: 0 },
  "6h": { ms: hour / 2, level: 1 },
  "24h": { ms: hour, level: 2 },
  "7d": { ms: 12 * hour, level: 3 },
  "30d": { ms: 24 * hour, level: 3 },
};

export const courseLevel = (timeRange: TimeRange): RollupLevel => steps[timeRange].level;
/** Length of a step in milliseconds, at least `leastMs`. */
export const courseStep = (timeRange: TimeRange, leastMs = 0): number => Math.max(steps[timeRange].ms, leastMs);

/** Number of the step in which a time lies, as SQL. */
export const stepSql = (time: string, stepMs: number): string =>
  `floor(date_part('epoch', ${time}) * 1000 / ${stepMs})`;

/** Calls of each step of the range, oldest first, the current one last. */
export function courseOf(
  found: readonly { readonly step: number; readonly calls: number }[],
  { timeRange, stepMs, now }: { readonly timeRange: TimeRange; readonly stepMs: number; readonly now: number },
): number[] {
  const first = Math.floor((now - timeRangeMs[timeRange]) / stepMs);
  const last = Math.floor(now / stepMs);
  const calls = new Map(found.map((each) => [each.step, each.calls]));
  return Array.from({ length: last - first + 1 }, (_, at) => calls.get(first + at) ?? 0);
}
