import type { DeployedCommit } from "@towpath/core/delivery/deployment";
import type { RequestLogStats } from "@towpath/logs/schema";
import { deploymentMark } from "~/features/project/deployment/deployment-mark.ts";
import { PlainButton } from "~/ui/button.tsx";
import { Card } from "~/ui/card.tsx";
import { Figure, formatCount } from "~/ui/figure.tsx";
import { Skeleton } from "~/ui/loading.tsx";
import { formatDuration } from "~/ui/time.tsx";
import { RequestChart } from "./request-chart.tsx";

function share(errors: number, total: number): string {
  if (total === 0 || errors === 0) return "";
  const percent = (errors / total) * 100;
  return percent < 0.1 ? "under 0.1%" : `${percent.toFixed(1)}%`;
}

type StatsPanelProps = {
  stats: RequestLogStats | undefined;
  deployments: readonly DeployedCommit[];
  onPeriod: (from: number, to: number) => void;
  /** Shows the calls that the gateway refused before they reached the server. */
  onShowRefused: () => void;
  /** Shows the calls that limits refused. */
  onShowLimited: () => void;
};

/** Requests, errors and durations in the selected range, with a chart. */
export function StatsPanel({ stats, deployments, onPeriod, onShowRefused, onShowLimited }: StatsPanelProps) {
  return (
    <Card className="flex flex-wrap items-stretch gap-x-8 gap-y-3 px-4 py-3" aria-label="Numbers">
      <dl className="grid grid-cols-2 content-center gap-x-6 gap-y-2 max-sm:w-full max-sm:[&>:first-child:nth-last-child(odd)]:col-span-2 sm:grid-cols-4 xl:grid-cols-2">
        <Figure name="Requests" value={stats && formatCount(stats.total)} />
        <Figure
          name="Errors"
          value={stats && formatCount(stats.errors)}
          detail={stats && share(stats.errors, stats.total - stats.refused)}
          bad={stats !== undefined && stats.errors > 0}
        />
        {stats !== undefined && stats.refused > 0 && (
          <Figure
            name="Refused"
            value={formatCount(stats.refused)}
            detail={<ShowThem which="refused" onClick={onShowRefused} />}
          />
        )}
        {stats !== undefined && stats.limited > 0 && (
          <Figure
            name="Refused by limits"
            value={formatCount(stats.limited)}
            detail={<ShowThem which="refused by limits" onClick={onShowLimited} />}
          />
        )}
        <Figure name="Median" value={stats && (stats.p50Ms === null ? "–" : formatDuration(stats.p50Ms))} />
        <Figure name="95th percentile" value={stats && (stats.p95Ms === null ? "–" : formatDuration(stats.p95Ms))} />
      </dl>
      <div className="min-w-0 flex-1 basis-72">
        {stats ? (
          <RequestChart stats={stats} marks={deployments.map(deploymentMark)} onPeriod={onPeriod} />
        ) : (
          <Skeleton className="h-42" />
        )}
      </div>
    </Card>
  );
}

function ShowThem({ which, onClick }: { which: string; onClick: () => void }) {
  return (
    <PlainButton onClick={onClick} className="min-h-6 cursor-pointer text-accent-text underline underline-offset-3">
      Show them<span className="sr-only"> ({which})</span>
    </PlainButton>
  );
}
