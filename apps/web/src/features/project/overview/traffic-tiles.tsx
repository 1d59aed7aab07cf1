import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { Card } from "~/ui/card.tsx";
import { isAlarming } from "~/ui/error-count.tsx";
import { Figure, formatCount } from "~/ui/figure.tsx";
import { Sparkline } from "~/ui/sparkline.tsx";
import { formatDuration, RelativeTime } from "~/ui/time.tsx";
import { changeText } from "./change-text.ts";
import { failuresSearch } from "./failures-search.ts";
import type { Overview } from "./overview.functions.ts";

type TrafficTilesProps = {
  overview: Overview | undefined;
  projectKey: ProjectKey;
  /** The branch of these calls; null: all. */
  branch: string | null;
};

/** Calls, error rate, median, 95th percentile and callers of the last 24 hours, each beside the day before. */
export function TrafficTiles({ overview, projectKey, branch }: TrafficTilesProps) {
  const { current, previous, hours = [] } = overview ?? {};
  const of = (key: "calls" | "p50Ms" | "p95Ms" | "callers") => hours.map((hour) => hour[key]);
  const rate = current && rateOf(current);
  const callers = current?.callers;
  const isBad = current !== undefined && isAlarming(current);
  return (
    <section aria-label="The last 24 hours">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-5">
        <Tile course={<Sparkline values={of("calls")} />}>
          <Figure name="Calls" value={current && formatCount(current.calls)}>
            <Detail>
              {current && previous && changeText(current.calls, previous.calls, "relative")}
              {overview && current?.calls === 0 && overview.lastCall ? (
                <>
                  , last <RelativeTime time={overview.lastCall} />
                </>
              ) : null}
            </Detail>
          </Figure>
        </Tile>
        <Tile course={<Sparkline values={hours.map(({ errors }) => errors)} {...(isBad && { tone: "bad" })} />}>
          <Figure
            name="Error rate"
            value={rate === undefined ? undefined : rate === null ? "–" : percent(rate)}
            bad={isBad}
          >
            <Detail>
              {overview && current && current.errors > 0 ? (
                <Link
                  to="/$orgSlug/$projectName/logs"
                  params={projectKey}
                  search={failuresSearch(overview, branch)}
                  className="underline underline-offset-2 hover:text-ink"
                >
                  {current.errors === 1 ? "1 error" : `${formatCount(current.errors)} errors`}
                </Link>
              ) : (
                current && "no errors"
              )}
              {current && previous && previous.errors > 0 ? `, ${formatCount(previous.errors)} the day before` : null}
            </Detail>
          </Figure>
        </Tile>
        <Tile course={<Sparkline values={of("p50Ms")} />}>
          <Figure name="Median" value={current && duration(current.p50Ms)}>
            <Detail>{current && previous && changeText(current.p50Ms, previous.p50Ms, "relative")}</Detail>
          </Figure>
        </Tile>
        <Tile course={<Sparkline values={of("p95Ms")} />}>
          <Figure name="95th percentile" value={current && duration(current.p95Ms)}>
            <Detail>{current && previous && changeText(current.p95Ms, previous.p95Ms, "relative")}</Detail>
          </Figure>
        </Tile>
        {callers === null ? null : (
          <Tile course={<Sparkline values={of("callers")} />}>
            <Figure name="Active callers" value={callers === undefined ? undefined : formatCount(callers)}>
              <Detail>{current && previous && changeText(current.callers, previous.callers, "absolute")}</Detail>
            </Figure>
          </Tile>
        )}
      </div>
    </section>
  );
}

function Tile({ course, children }: { course: ReactNode; children: ReactNode }) {
  return (
    <Card className="flex flex-col justify-between px-4 pt-3 pb-3.5">
      <dl>{children}</dl>
      {course}
    </Card>
  );
}

/** One line, also while loading. */
const Detail = ({ children }: { children: ReactNode }) => (
  <dd className="mb-2 min-h-4.5 text-xs max-sm:min-h-9 text-muted">{children}</dd>
);

const duration = (ms: number | null) => (ms === null ? "–" : formatDuration(ms));

const rateOf = ({ calls, errors }: { calls: number; errors: number }) => (calls === 0 ? null : errors / calls);

/** "0%", "0.4%", "12%" */
function percent(share: number): string {
  const value = share * 100;
  if (value === 0 || value >= 10) return `${Math.round(value)}%`;
  return value < 0.1 ? "< 0.1%" : `${value.toFixed(1)}%`;
}
