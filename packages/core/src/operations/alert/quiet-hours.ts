import { dayMinutes, type QuietHours } from "./alert.schema.ts";

const minuteMs = 60_000;

/** What a clock on the wall of a time zone shows, as if it were UTC, in milliseconds. */
function wallTime(instant: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat("en", {
    timeZone,
    calendar: "iso8601",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(instant);
  const of = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value);
  return Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
}

/**
 * The instant at which a wall clock shows `wall`. Of two such instants, as clocks are set back, the later; if none does,
 * as they are set forward, the instant at which they are.
 */
function instantOf(wall: number, timeZone: string): number {
  // Zones differ from UTC by less than a day, and change by less than that.
  const offsets = [wall - 86_400_000, wall + 86_400_000].map((near) => wallTime(near, timeZone) - near);
  const candidates = offsets.map((offset) => wall - offset);
  const exact = candidates.filter((instant) => wallTime(instant, timeZone) === wall);
  if (exact.length > 0) return Math.max(...exact);
  // The first minute after the gap, between both candidates.
  let [before, after] = [Math.min(...candidates), Math.max(...candidates)];
  while (after - before > minuteMs) {
    const middle = before + Math.floor((after - before) / 2 / minuteMs) * minuteMs;
    if (wallTime(middle, timeZone) < wall) before = middle;
    else after = middle;
  }
  return after;
}

/** When the quiet hours end in which `now` is; null if it is in none. Pure. */
export function quietUntil(hours: QuietHours | null, now: Date): Date | null {
  if (hours === null) return null;
  const { from, to, timeZone } = hours;
  const wall = wallTime(now.getTime(), timeZone);
  const midnight = Math.floor(wall / (dayMinutes * minuteMs)) * dayMinutes * minuteMs;
  const minute = Math.floor((wall - midnight) / minuteMs);
  const isQuiet = from < to ? minute >= from && minute < to : minute >= from || minute < to;
  if (!isQuiet) return null;
  const endsTomorrow = minute >= to;
  const end = instantOf(midnight + (to + (endsTomorrow ? dayMinutes : 0)) * minuteMs, timeZone);
  // In the hour that is shown twice, the end may have passed already.
  return end > now.getTime() ? new Date(end) : null;
}
