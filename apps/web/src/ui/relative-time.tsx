import { formatAbsoluteTime, formatRelativeTime } from "./time-format.ts";
import { useNow } from "./use-now.ts";

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
