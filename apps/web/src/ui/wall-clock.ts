/** Of zones that only `Intl` knows. Making one takes ten times as long as using it, and lists show hundreds of times. */
const clocks = new Map<string, Intl.DateTimeFormat>();

/**
 * A time as a calendar and a clock of a zone show it, "2026-11-21T02:08:21.070". In UTC and in this machine's zone without
 * `Intl`, whose first use takes the main thread of a phone for a quarter of a second while it reads its data.
 *
 * @param timeZone undefined: this machine's
 */
export function wallClock(time: number, timeZone: string | undefined): string {
  const offsetMinutes = timeZone === undefined ? new Date(time).getTimezoneOffset() : 0;
  const text = new Date(time - offsetMinutes * 60_000).toISOString().slice(0, -1);
  if (timeZone === undefined || timeZone === "UTC") return text;
  // Swedish is "2026-11-21 02:08:21".
  const clock =
    clocks.get(timeZone) ?? new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "medium" });
  clocks.set(timeZone, clock);
  return clock.format(time).replace(" ", "T") + text.slice(19);
}

/** "GMT+9". `timeZone`: undefined: this machine's. */
export const zoneName = (time: number, timeZone: string | undefined): string =>
  new Intl.DateTimeFormat("en-GB", { timeZone, timeZoneName: "short" }).format(time).split(", ")[1] ?? "";
