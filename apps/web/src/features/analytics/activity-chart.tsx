import type { ActivityTimeseries } from "@towpath/logs/sessions";
import { Bar, BarChart, ResponsiveContainer, Tooltip, XAxis } from "recharts";
import { bucketLabel } from "../request-log/request-chart.tsx";

/** Counts over time. The figures beside it say the same in text. */
export default function ActivityChart({ series, noun }: { series: ActivityTimeseries; noun: string }) {
  return (
    <div className="h-24 w-full text-2xs" aria-hidden>
      <ResponsiveContainer width="100%" height="100%">
        <BarChart
          data={series.data}
          margin={{ top: 4, right: 0, bottom: 0, left: 0 }}
          barCategoryGap={1}
          accessibilityLayer={false}
        >
          <XAxis
            dataKey="start"
            tickFormatter={(start: string) => bucketLabel(start, series.bucketMs)}
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
              const bucket = payload?.[0]?.payload as ActivityTimeseries["data"][number] | undefined;
              if (!active || !bucket) return null;
              return (
                <div className="rounded-md border bg-raised px-2 py-1 text-xs shadow-pop">
                  <p className="text-muted">{new Date(bucket.start).toLocaleString()}</p>
                  <p className="tabular">
                    {bucket.count} {noun}
                  </p>
                </div>
              );
            }}
          />
          <Bar dataKey="count" fill="var(--accent)" isAnimationActive={false} maxBarSize={18} radius={[2, 2, 0, 0]} />
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}
