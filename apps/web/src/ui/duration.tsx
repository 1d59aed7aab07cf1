import { formatDuration } from "./time-format.ts";
import { useNow } from "./use-now.ts";

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
