import { formatShortDay, formatTimeOfDay, type TimeFormat } from "./time.tsx";

const day = 86_400_000;
const ticks = 6;

/** A round number that is at least `most`: the upper end of an axis. */
export function niceMaximum(most: number): number {
  if (most <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 4, 5, 6, 8, 10].find((factor) => factor * power >= most) ?? 10) * power;
}

/** Which of `count` bars get a label: evenly spaced, at most six. */
export function tickIndexes(count: number): number[] {
  const step = Math.max(1, Math.ceil(count / ticks));
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
}

/** Label of a bar: a date for long buckets, else a time of day. */
export function barLabel(start: string, bucketMs: number, format: TimeFormat = {}): string {
  const time = Date.parse(start);
  return bucketMs >= day / 4 ? formatShortDay(time, format) : formatTimeOfDay(time, format);
}
