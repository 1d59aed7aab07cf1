const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct", "Nov", "Dec"];

/** A time as a calendar and a clock of its zone show it, in the words of `Intl` for British English. */
type WallClock = {
  /** "21 Nov". */
  readonly day: string;
  readonly year: string;
  /** From 0 to 23. */
  readonly hour: number;
  /** "03". */
  readonly minute: string;
  readonly second: string;
  readonly millisecond: string;
};

/**
 * Without `Intl`, whose first use takes the main thread of a phone for a quarter of a second while it reads its data.
 *
 * @param zone undefined: that of this machine
 * @returns null for zones that only `Intl` knows: all but this machine's and UTC
 */
export function wallClock(time: number, zone: string | undefined): WallClock | null {
  if (zone !== undefined && zone !== "UTC") return null;
  const offsetMinutes = zone === undefined ? new Date(time).getTimezoneOffset() : 0;
  const [date = "", clock = ""] = new Date(time - offsetMinutes * 60_000).toISOString().split("T");
  const [year = "", month, day] = date.split("-");
  const [hour, minute = "", second = "", millisecond = ""] = clock.slice(0, -1).split(/[:.]/);
  return { day: `${Number(day)} ${months[Number(month) - 1]}`, year, hour: Number(hour), minute, second, millisecond };
}
