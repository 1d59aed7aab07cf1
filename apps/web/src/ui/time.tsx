import { useEffect, useState } from "react";
import { formatAbsoluteTime, formatDuration, formatRelativeTime } from "./time-format.ts";

/** "3m ago", kept true while it is on screen; the exact time in UTC on hover and in the markup. */
export function RelativeTime({ time, className }: { time: string | number | Date; className?: string }) {
  const now = useNow(15_000);
  const at = new Date(time).getTime();
  if (Number.isNaN(at)) return null;
  return (
    // The server's clock may say "1m" where the browser's says "2m"; the browser's wins at the next tick.
    <time
      dateTime={new Date(at).toISOString()}
      title={formatAbsoluteTime(at)}
      className={className}
      suppressHydrationWarning
    >
      {formatRelativeTime(at, now)}
    </time>
  );
}

/** A finished duration in milliseconds. */
export function Duration({ ms, className }: { ms: number; className?: string }) {
  return (
    <span className={className} style={{ fontVariantNumeric: "tabular-nums" }}>
      {formatDuration(ms)}
    </span>
  );
}

/** A duration that still runs, in whole seconds, since `since`. */
export function RunningDuration({ since, className }: { since: string | number | Date; className?: string }) {
  const now = useNow(1000);
  const ms = Math.max(0, now - new Date(since).getTime());
  return (
    <span className={className} style={{ fontVariantNumeric: "tabular-nums" }} suppressHydrationWarning>
      {formatDuration(Math.max(1000, Math.floor(ms / 1000) * 1000)).replace(".0 s", " s")}
    </span>
  );
}

/** The current time in milliseconds, renewed every `everyMs`; null stops the clock. */
function useNow(everyMs: number | null): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    if (everyMs === null) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
