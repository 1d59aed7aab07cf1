import type { RequestLogStats } from "@towpath/logs/schema";
import { TimeBars } from "~/ui/time-bars.tsx";

const bars = [
  { key: "errors", color: "var(--bad)" },
  { key: "succeeded", color: "var(--accent)" },
] as const;

/** Requests over time, errors in their own color at the bottom. */
export default function RequestChart({ stats }: { stats: RequestLogStats }) {
  return (
    <TimeBars
      data={stats.buckets.map((bucket) => ({ ...bucket, succeeded: bucket.total - bucket.errors }))}
      bucketMs={stats.bucketMs}
      bars={bars}
      describe={({ total, errors }) => `${total} requests, ${errors} errors`}
    />
  );
}
