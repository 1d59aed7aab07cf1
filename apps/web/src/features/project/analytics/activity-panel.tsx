import type { TimeRange } from "@towpath/logs/schema";
import type { ActivityTimeseries } from "@towpath/logs/sessions";
import type { ReactNode } from "react";
import { rangeOptions } from "~/features/project/request-log/log-filters.ts";
import { Card } from "~/ui/card.tsx";
import { Figure } from "~/ui/figure.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { Select } from "~/ui/select.tsx";
import { TimeBars } from "~/ui/time-bars.tsx";

export type ActivityFigure = { readonly name: string; readonly value: string | undefined; readonly detail?: string };

type ActivityPanelProps = {
  figures: readonly ActivityFigure[];
  series: ActivityTimeseries | undefined;
  /** The counted things, in the plural. */
  noun: string;
};

/** Figures of the selected range, with a chart. */
export function ActivityPanel({ figures, series, noun }: ActivityPanelProps) {
  return (
    <Card className="mb-3 flex flex-wrap items-stretch gap-x-8 gap-y-3 px-4 py-3" aria-label="Numbers">
      <dl className="grid grid-cols-2 content-center gap-x-6 gap-y-2 max-sm:w-full sm:grid-cols-3">
        {figures.map((figure) => (
          <Figure key={figure.name} {...figure} />
        ))}
      </dl>
      <div className="min-w-0 flex-1 basis-72">
        {series ? <ActivityChart series={series} noun={noun} /> : <Skeleton className="h-28.5" />}
      </div>
    </Card>
  );
}

type RangeSelectProps = {
  value: TimeRange;
  onChange: (value: TimeRange) => void;
};

/** The time range of a page. */
export function RangeSelect({ value, onChange }: RangeSelectProps): ReactNode {
  return <Select aria-label="Time range" className="w-44" value={value} onChange={onChange} options={rangeOptions} />;
}

const bars = [{ key: "count", color: "var(--accent)" }] as const;

/** Counts over time. */
function ActivityChart({ series, noun }: { series: ActivityTimeseries; noun: string }) {
  return (
    <TimeBars data={series.data} bucketMs={series.bucketMs} bars={bars} describe={({ count }) => `${count} ${noun}`} />
  );
}
