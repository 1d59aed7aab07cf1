import { formatDuration, useNow } from "./time.tsx";

export function Duration({ ms, className }: { ms: number; className?: string }) {
  return (
    <span className={className} style={{ fontVariantNumeric: "tabular-nums" }}>
      {formatDuration(ms)}
    </span>
  );
}

/** The time since `since`, in whole seconds, while something runs. */
export function RunningDuration({ since, className }: { since: string | number | Date; className?: string }) {
  const now = useNow(1000);
  const ms = Math.max(0, now - new Date(since).getTime());
  return (
    <span className={className} style={{ fontVariantNumeric: "tabular-nums" }} suppressHydrationWarning>
      {formatDuration(Math.max(1000, Math.floor(ms / 1000) * 1000)).replace(".0 s", " s")}
    </span>
  );
}
