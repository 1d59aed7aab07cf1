/** The roll-up tables, finest first. Each period is a multiple of the previous one. */
export const rollupLevels = [
  { table: "request_log_minute", seconds: 60 },
  { table: "request_log_ten_minutes", seconds: 600 },
  { table: "request_log_hour", seconds: 3600 },
  { table: "request_log_half_day", seconds: 43_200 },
] as const;

/** Index in `rollupLevels`. */
export type RollupLevel = 0 | 1 | 2 | 3;
export const hourly: RollupLevel = 2;

/** A period [from, to) in milliseconds whose ends are multiples of a level's length, read from that level. */
export type Span = { level: RollupLevel; from: number; to: number };

export const minuteMs = 60_000;
const coarsest = rollupLevels.length - 1;
export const lengthOf = (level: RollupLevel) => rollupLevels[level].seconds * 1000;

/** Splits a period of whole minutes into as few spans as possible, in chronological order. */
export function spansOf(from: number, to: number, level: RollupLevel = coarsest as RollupLevel): Span[] {
  const length = lengthOf(level);
  const first = Math.ceil(from / length) * length;
  const last = Math.floor(to / length) * length;
  if (level === 0) return from < to ? [{ level, from, to }] : [];
  const finer = (level - 1) as RollupLevel;
  if (first >= last) return spansOf(from, to, finer);
  return [...spansOf(from, first, finer), { level, from: first, to: last }, ...spansOf(last, to, finer)];
}

export const floorToMinute = (time: number) => Math.floor(time / minuteMs) * minuteMs;
export const ceilToMinute = (time: number) => floorToMinute(time + minuteMs - 1);

/** Where a period without an end date ends: later than any row, as a gateway's clock may be a day fast. */
export function openEnd(now: number): number {
  const length = lengthOf(coarsest as RollupLevel);
  return (Math.floor(now / length) + 3) * length;
}
