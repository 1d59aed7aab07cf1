import type { RequestLogStats } from "@towpath/logs/schema";
import { TimeBars } from "~/ui/time-bars.tsx";

const bars = [
  { key: "errors", color: "var(--bad)", label: "Errors" },
  { key: "succeeded", color: "var(--accent)", label: "Succeeded" },
] as const;

/** Requests over time, errors in their own color at the bottom. */
export function RequestChart({ stats }: { stats: RequestLogStats }) {
  return (
    <TimeBars
      data={stats.buckets.map((bucket) => ({ ...bucket, succeeded: bucket.total - bucket.errors }))}
      bucketMs={stats.bucketMs}
      bars={bars}
      describe={({ total, errors }) => `${total} requests, ${errors} errors`}
    />
  );
}
