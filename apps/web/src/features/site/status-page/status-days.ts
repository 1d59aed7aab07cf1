import type { ServerDay } from "@towpath/logs";

export const shownDays = 90;
const dayMs = 86_400_000;

/** A day (UTC) of a server. `answered`: the share of its calls, 0 to 1; null without calls. */
export type StatusDay = {
  readonly day: string;
  readonly calls: number;
  readonly answered: number | null;
  readonly p95Ms: number | null;
};
export type StatusDays = {
  /** The oldest first; the last is today. */
  readonly days: readonly StatusDay[];
  /** Not yet soon after the page was switched on. */
  readonly isCounted: boolean;
  /** Over all days; null without calls. */
  readonly answered: number | null;
  /** The median of the days' 95th percentiles, milliseconds; null without calls. */
  readonly p95Ms: number | null;
};

export const firstShownDay = (now: number): string => dayOf(now - (shownDays - 1) * dayMs);
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/** The shown days of a server from those that were counted. */
export function statusDays(counted: readonly ServerDay[], now: number): StatusDays {
  const byDay = new Map(counted.map((day) => [day.day, day]));
  const days = Array.from({ length: shownDays }, (_, index): StatusDay => {
    const day = dayOf(now - (shownDays - 1 - index) * dayMs);
    const { calls = 0, unanswered = 0, p95Ms = null } = byDay.get(day) ?? {};
    return { day, calls, answered: shareAnswered(calls, unanswered), p95Ms };
  });
  const [calls, unanswered] = counted.reduce(([all, without], day) => [all + day.calls, without + day.unanswered], [
    0, 0,
  ] as [number, number]);
  const slow = days.flatMap(({ p95Ms }) => p95Ms ?? []).sort((one, other) => one - other);
  const p95Ms = slow[Math.floor(slow.length / 2)] ?? null;
  return { days, isCounted: counted.length > 0, answered: shareAnswered(calls, unanswered), p95Ms };
}

/** A gateway may have sent a call's row but not its sum, or the other way round: never below 0. */
const shareAnswered = (calls: number, unanswered: number): number | null =>
  calls === 0 ? null : Math.max(0, 1 - unanswered / calls);

export type StatusTone = "ok" | "warn" | "bad" | "none";

/** `ok`: at most one call in a thousand was not answered; `warn`: at most one in a hundred. */
export function toneOf(answered: number | null): StatusTone {
  if (answered === null) return "none";
  return answered >= 0.999 ? "ok" : answered >= 0.99 ? "warn" : "bad";
}

/** `99.95 %`, never rounded up to 100. */
export const inPercent = (share: number): string => `${Math.floor(share * 10_000) / 100} %`;
