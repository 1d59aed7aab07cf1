import { formatShortDay, formatTimeOfDay, type TimeFormat } from "~/ui/time.tsx";

/** "21 Nov, 14:00 – 15:30", or with both days. */
export function formatPeriod(from: number, to: number, format: TimeFormat = {}): string {
  const [first, last] = [from, to].map((at) => formatShortDay(at, format));
  const clock = (at: number) => formatTimeOfDay(at, format);
  return `${first}, ${clock(from)} – ${first === last ? "" : `${last}, `}${clock(to)}`;
}
