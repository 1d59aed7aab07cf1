const units = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;
const relative = new Intl.RelativeTimeFormat("en");

/** How long ago a time was, such as `3 hours ago`. Clocks differ, so a future time counts as now. */
export function ago(time: string, now = Date.now()): string {
  const seconds = (now - Date.parse(time)) / 1000;
  const [unit, length] = units.find(([, each]) => seconds >= each) ?? ["second", 1];
  return seconds < 10 ? "just now" : relative.format(-Math.floor(seconds / length), unit);
}

/** As the clock here shows it, such as `2026-11-23 09:30`. */
export function localTime(time: string): string {
  // Sweden's way of writing is ISO 8601's.
  return new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "short" }).format(new Date(time));
}
