import {
  createContext,
  type PointerEvent,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";
import { formatCount } from "./figure.tsx";
import { wallClock, zoneName } from "./wall-clock.ts";

/** How a person wants to read times. `timeZone`: an IANA name; null: that of their browser. */
type TimePreferences = { readonly timeZone: string | null; readonly hourCycle: "h12" | "h23" };

const PreferencesContext = createContext<TimePreferences>({ timeZone: null, hourCycle: "h23" });

/** Every time below is shown with these preferences. */
export const TimePreferencesProvider = PreferencesContext.Provider;

/** Options of the formatting functions. `timeZone`: undefined: the reader's. */
export type TimeFormat = { readonly timeZone?: string | undefined; readonly hourCycle?: "h12" | "h23" };

/** The person's format. On the server, which doesn't know the browser's time zone, that is UTC. */
export function useTimeFormat(): TimeFormat {
  const { timeZone, hourCycle } = useContext(PreferencesContext);
  const isInBrowser = useIsInBrowser();
  const zone = timeZone ?? (isInBrowser ? undefined : "UTC");
  return useMemo(() => ({ timeZone: zone, hourCycle }), [zone, hourCycle]);
}

/**
 * Gives a time's element its tooltip when a pointer reaches it: a list has hundreds, and the name of a time zone takes
 * `Intl`, which is slow to start.
 */
export const withTooltip = (time: number, format: TimeFormat) => ({
  onPointerEnter: ({ currentTarget }: PointerEvent<HTMLElement>) => {
    currentTarget.title = formatAbsoluteTime(time, format);
  },
});

/** "3m ago", updated while it is on screen. The exact time is in the tooltip and, in UTC, in the markup. */
export function RelativeTime({ time, className }: { time: string | number | Date; className?: string }) {
  const now = useNow(15_000);
  const format = useTimeFormat();
  const at = new Date(time).getTime();
  if (Number.isNaN(at)) return null;
  return (
    // Server and browser may render different texts. The browser's replaces the server's at the next tick.
    <time
      dateTime={new Date(at).toISOString()}
      className={className}
      suppressHydrationWarning
      {...withTooltip(at, format)}
    >
      {formatRelativeTime(at, now)}
    </time>
  );
}

/**
 * An exact time in the reader's zone: "14:03:22.123", with the day in front if it isn't today. For lists; the tooltip
 * has the whole date. UTC until the page's script runs.
 */
export function ClockTime(props: ClockTimeProps) {
  return <FormattedClockTime {...props} format={useTimeFormat()} />;
}

type ClockTimeProps = { readonly time: string | number | Date; readonly className?: string };

/** A `ClockTime` for the rows of a long list, which has the format. */
export function FormattedClockTime({ time, format, className }: ClockTimeProps & { readonly format: TimeFormat }) {
  const at = new Date(time).getTime();
  if (Number.isNaN(at)) return null;
  return (
    <time dateTime={new Date(at).toISOString()} className={className} {...withTooltip(at, format)}>
      {formatClockTime(at, format)}
    </time>
  );
}

/** Whether this is the browser, which knows the reader's time zone. False on the server and for the first render. */
export const useIsInBrowser = (): boolean =>
  useSyncExternalStore(
    () => () => {},
    () => true,
    () => false,
  );

/** "14:03", or "2:03 pm". `length`: 5 for minutes, 8 for seconds, 12 for milliseconds. */
export function formatTimeOfDay(time: number, format: TimeFormat = {}, length = 5): string {
  const clock = wallClock(time, format.timeZone).slice(11, 11 + length);
  if (format.hourCycle !== "h12") return clock;
  const hour = Number(clock.slice(0, 2));
  return `${hour % 12 || 12}${clock.slice(2)} ${hour < 12 ? "am" : "pm"}`;
}

const months = "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec".split(" ");

/** "21 Nov". */
export function formatShortDay(time: number, format: TimeFormat = {}): string {
  const [, month, day] = wallClock(time, format.timeZone).slice(0, 10).split("-");
  return `${Number(day)} ${months[Number(month) - 1]}`;
}

/** "14:03:22.123", or "21 Nov 14:03:22.123" for another day than `now`'s. */
export function formatClockTime(time: number, format: TimeFormat = {}, now = Date.now()): string {
  const clock = formatTimeOfDay(time, format, 12);
  const day = formatShortDay(time, format);
  return day === formatShortDay(now, format) ? clock : `${day} ${clock}`;
}

/** The current time in milliseconds since 1970, updated every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

const steps: readonly (readonly [unit: string, seconds: number])[] = [
  ["y", 31_536_000],
  ["mo", 2_592_000],
  ["w", 604_800],
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
];

/** "3m ago", "in 3m", or "just now" below a minute. Both times are in milliseconds since 1970. */
export function formatRelativeTime(time: number, now: number): string {
  const seconds = (time - now) / 1000;
  const [unit, size] = steps.find((step) => Math.abs(seconds) >= step[1]) ?? [];
  if (unit === undefined || size === undefined) return "just now";
  const text = formatCount(Math.trunc(Math.abs(seconds) / size)) + unit;
  return seconds < 0 ? `${text} ago` : `in ${text}`;
}

/** "21 Nov 2026, 02:08:21 UTC": names its time zone. */
export const formatAbsoluteTime = (time: number, format: TimeFormat): string =>
  `${formatDay(time, format)}, ${formatTimeOfDay(time, format, 8)} ${zoneName(time, format.timeZone)}`;

export const formatDay = (time: number, format: TimeFormat) =>
  `${formatShortDay(time, format)} ${wallClock(time, format.timeZone).slice(0, 4)}`;

/** "0.8 ms", "412 ms", "3.2 s", "2 m 05 s". */
export function formatDuration(milliseconds: number): string {
  if (!Number.isFinite(milliseconds) || milliseconds < 0) return "–";
  if (milliseconds > 0 && milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 10_000) return `${(Math.floor(milliseconds / 100) / 10).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, "0")} s`;
  return `${Math.floor(seconds / 3600)} h ${String(Math.floor((seconds % 3600) / 60)).padStart(2, "0")} m`;
}

/** "812 B", "4.1 kB", "2.3 MB", "6.0 GB". */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1000 && unit < 3; unit++) value /= 1000;
  return `${unit > 0 ? value.toFixed(1) : value} ${["B", "kB", "MB", "GB"][unit]}`;
}
