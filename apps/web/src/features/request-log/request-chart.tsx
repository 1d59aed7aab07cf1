import type { RequestLogStats } from "@towpath/logs/schema";
import { Bar, BarChart, ResponsiveContainer, Tooltip, XAxis } from "recharts";

const day = 86_400_000;

/** Axis label of a bucket: a date for long buckets, else a time of day. */
export function bucketLabel(start: string, bucketMs: number): string {
  const date = new Date(start);
  return bucketMs >= day / 4
    ? date.toLocaleDateString(undefined, { day: "numeric", month: "short" })
    : date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

/** Requests over time, errors in their own colour on top. The numbers beside it say the same in text. */
export default function RequestChart({ stats }: { stats: RequestLogStats }) {
  const data = stats.buckets.map((bucket) => ({ ...bucket, succeeded: bucket.total - bucket.errors }));
  return (
    <div className="h-24 w-full text-2xs" aria-hidden>
      <ResponsiveContainer width="100%" height="100%">
        <BarChart
          data={data}
          margin={{ top: 4, right: 0, bottom: 0, left: 0 }}
          barCategoryGap={1}
          accessibilityLayer={false}
        >
          <XAxis
            dataKey="start"
            tickFormatter={(start: string) => bucketLabel(start, stats.bucketMs)}
            tickLine={false}
            axisLine={{ stroke: "var(--line)" }}
            tick={{ fill: "var(--faint)", fontSize: 11 }}
            minTickGap={48}
            height={18}
          />
          <Tooltip
            cursor={{ fill: "var(--hover)" }}
            isAnimationActive={false}
            content={({ active, payload }) => {
              const bucket = payload?.[0]?.payload as (typeof data)[number] | undefined;
              if (!active || !bucket) return null;
              return (
                <div className="rounded-md border bg-raised px-2 py-1 text-xs shadow-pop">
                  <p className="text-muted">{new Date(bucket.start).toLocaleString()}</p>
                  <p className="tabular">
                    {bucket.total} requests, {bucket.errors} errors
                  </p>
                </div>
              );
            }}
          />
          <Bar dataKey="errors" stackId="requests" fill="var(--bad)" isAnimationActive={false} maxBarSize={18} />
          <Bar
            dataKey="succeeded"
            stackId="requests"
            fill="var(--accent)"
            isAnimationActive={false}
            maxBarSize={18}
            radius={[2, 2, 0, 0]}
          />
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}
