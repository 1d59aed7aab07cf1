import type { RequestLogStats } from "@towpath/logs/schema";
import { type Mark, TimeBars } from "~/ui/time-bars.tsx";

const bars = [
  { key: "errors", color: "var(--bad)", label: "Errors" },
  { key: "refused", color: "var(--warn)", label: "Refused" },
  { key: "succeeded", color: "var(--accent)", label: "Succeeded" },
] as const;

type RequestChartProps = {
  stats: RequestLogStats;
  marks?: readonly Mark[];
  /** Lets the reader choose a period; milliseconds since 1970, `to` exclusive. */
  onPeriod?: (from: number, to: number) => void;
};

/** Requests over time, errors and refusals in their own colors at the bottom, and deployments as marks. */
export function RequestChart({ stats, marks = [], onPeriod }: RequestChartProps) {
  return (
    <TimeBars
      data={stats.buckets.map((bucket) => ({ ...bucket, succeeded: bucket.total - bucket.errors - bucket.refused }))}
      bucketMs={stats.bucketMs}
      bars={bars}
      describe={({ total, errors, refused }) =>
        [
          total === 1 ? "1 request" : `${total} requests`,
          errors === 1 ? "1 error" : `${errors} errors`,
          ...(refused > 0 ? [`${refused} refused`] : []),
        ].join(", ")
      }
      marks={marks}
      marksLabel="Deployments"
      {...(onPeriod && { onPeriod })}
      className="h-30"
    />
  );
}
