import type { ActivityTimeseries } from "@towpath/logs/sessions";
import { TimeBars } from "~/ui/time-bars.tsx";

const bars = [{ key: "count", color: "var(--accent)" }] as const;

/** Counts over time. */
export function ActivityChart({ series, noun }: { series: ActivityTimeseries; noun: string }) {
  return (
    <TimeBars data={series.data} bucketMs={series.bucketMs} bars={bars} describe={({ count }) => `${count} ${noun}`} />
  );
}
