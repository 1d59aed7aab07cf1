import { Bar, BarChart, ResponsiveContainer, Tooltip, XAxis } from "recharts";

const day = 86_400_000;

type Bucket = { readonly start: string };

/**
 * Bars over time, stacked from the bottom up. Hidden from screen readers: figures beside it must say the same in text. Load
 * it lazily, as the chart library is large.
 */
export function TimeBars<Row extends Bucket>({
  data,
  bucketMs,
  bars,
  describe,
}: {
  data: readonly Row[];
  bucketMs: number;
  bars: readonly { readonly key: keyof Row & string; readonly color: string }[];
  /** What the bars of a bucket say. */
  describe: (row: Row) => string;
}) {
  return (
    <div className="h-24 w-full text-2xs" aria-hidden>
      <ResponsiveContainer width="100%" height="100%">
        <BarChart
          data={[...data]}
          margin={{ top: 4, right: 0, bottom: 0, left: 0 }}
          barCategoryGap={1}
          accessibilityLayer={false}
        >
          <XAxis
            dataKey="start"
            tickFormatter={(start: string) => bucketLabel(start, bucketMs)}
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
              const row = payload?.[0]?.payload as Row | undefined;
              if (!active || !row) return null;
              return (
                <div className="rounded-md border bg-raised px-2 py-1 text-xs shadow-pop">
                  <p className="text-muted">{new Date(row.start).toLocaleString()}</p>
                  <p className="tabular">{describe(row)}</p>
                </div>
              );
            }}
          />
          {bars.map(({ key, color }, at) => (
            <Bar
              key={key}
              dataKey={(row: Row) => Number(row[key])}
              stackId="bars"
              fill={color}
              isAnimationActive={false}
              maxBarSize={18}
              radius={at === bars.length - 1 ? [2, 2, 0, 0] : 0}
            />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}

/** Axis label of a bucket: a date for long buckets, else a time of day. */
function bucketLabel(start: string, bucketMs: number): string {
  const date = new Date(start);
  return bucketMs >= day / 4
    ? date.toLocaleDateString(undefined, { day: "numeric", month: "short" })
    : date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}
