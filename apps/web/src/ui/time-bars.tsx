import { type PointerEvent, type ReactNode, useState } from "react";
import { BarRange } from "./bar-range.tsx";
import { classNames } from "./class-names.ts";
import { formatCount } from "./figure.tsx";
import { useIsInBrowser, useTimeFormat } from "./time.tsx";
import { barLabel, niceMaximum, tickIndexes } from "./time-scale.ts";

type Bucket = { readonly start: string };
type Bar<Row> = {
  readonly key: keyof Row & string;
  readonly color: string /** In the legend. */;
  readonly label?: string;
};
/** Something that happened at a time. */
export type Mark = { readonly time: string; readonly label: string };

/**
 * Bars over time, stacked from the bottom up, with an axis and, for bars with labels, a legend. Hidden from screen
 * readers except for the choice of a period: figures beside it must have the same information.
 */
export function TimeBars<Row extends Bucket>({
  data,
  bucketMs,
  bars,
  describe,
  marks = [],
  marksLabel,
  onPeriod,
  className,
}: {
  data: readonly Row[];
  bucketMs: number;
  bars: readonly Bar<Row>[];
  /** Text of a bucket's bars. */
  describe: (row: Row) => string;
  marks?: readonly Mark[];
  /** The legend's text for marks. */
  marksLabel?: string;
  /** Lets the reader choose a period of whole bars, by pointer or by keys; milliseconds since 1970, `to` exclusive. */
  onPeriod?: (from: number, to: number) => void;
  /** For the height of the plot, 96 px unless given. */
  className?: string;
}) {
  const [hovered, setHovered] = useState<number | null>(null);
  const isInBrowser = useIsInBrowser();
  const format = useTimeFormat();
  const sum = (row: Row) => bars.reduce((total, { key }) => total + Number(row[key]), 0);
  const top = niceMaximum(Math.max(0, ...data.map(sum)));
  const first = new Date(data[0]?.start ?? 0).getTime();
  const placed = marks
    .map((mark) => ({ ...mark, share: (new Date(mark.time).getTime() - first) / (bucketMs * data.length) }))
    .filter(({ share }) => share >= 0 && share <= 1);
  const follow = (event: PointerEvent<HTMLDivElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at = Math.floor(((event.clientX - left) / width) * data.length);
    setHovered(at >= 0 && at < data.length ? at : null);
  };
  const row = hovered === null ? undefined : data[hovered];
  const legend = bars.filter(({ label }) => label !== undefined);
  return (
    <div className="w-full text-2xs text-faint">
      {legend.length > 0 || marksLabel ? (
        <div className="mb-2 flex flex-wrap justify-end gap-x-4 gap-y-1 text-xs text-muted" aria-hidden>
          {legend.toReversed().map(({ key, color, label }) => (
            <Key key={key} label={label}>
              <span className="size-2 rounded-xs" style={{ background: color }} />
            </Key>
          ))}
          {marksLabel && placed.length > 0 ? (
            <Key label={marksLabel}>
              <span className="h-2.5 border-l border-dashed border-ink" />
            </Key>
          ) : null}
        </div>
      ) : null}
      <div className="flex gap-2">
        <div
          className={classNames("relative h-24 min-w-0 flex-1", className)}
          onPointerMove={follow}
          onPointerLeave={() => setHovered(null)}
        >
          <Grid />
          {onPeriod && data.length > 0 ? (
            <BarRange
              count={data.length}
              describe={(at) => {
                const bar = data[at];
                return bar ? `${barLabel(bar.start, bucketMs, format)}: ${describe(bar)}` : "";
              }}
              onCursor={setHovered}
              onRange={(begin, end) => onPeriod(first + begin * bucketMs, first + end * bucketMs)}
            />
          ) : null}
          <svg
            viewBox={`0 0 ${Math.max(1, data.length)} 100`}
            preserveAspectRatio="none"
            className="pointer-events-none absolute inset-0 size-full"
            aria-hidden="true"
          >
            <g className={row ? "opacity-55" : undefined}>
              <Bars rows={data} bars={bars} top={top} />
            </g>
            {row && hovered !== null ? <Bars rows={[row]} from={hovered} bars={bars} top={top} /> : null}
          </svg>
          {placed.map(({ time, label, share }) => (
            <span
              key={`${time} ${label}`}
              className="pointer-events-none absolute inset-y-0 border-l border-dashed border-ink/60"
              aria-hidden
              style={{ left: `${share * 100}%` }}
            >
              <span className="absolute -top-1 -left-[4px] size-[7px] rotate-45 bg-ink" title={label} />
            </span>
          ))}
          {row && hovered !== null ? (
            <Hint share={(hovered + 0.5) / data.length}>
              <p className="text-muted">{barLabel(row.start, bucketMs, format)}</p>
              <p className="tabular">{describe(row)}</p>
              {placed
                .filter(({ share }) => Math.floor(share * data.length) === hovered)
                .map(({ time, label }) => (
                  <p key={`${time} ${label}`}>{label}</p>
                ))}
            </Hint>
          ) : null}
        </div>
        <div className="tabular flex w-7 shrink-0 flex-col justify-between text-right leading-none" aria-hidden>
          <span className="-mt-1">{compact(top)}</span>
          <span>{compact(top / 2)}</span>
          <span className="-mb-1">0</span>
        </div>
      </div>
      <div className="relative mr-9 h-4.5" aria-hidden>
        {/* Times are in the reader's zone, which only the browser knows. */}
        {isInBrowser &&
          tickIndexes(data.length).map((at) => (
            <span
              key={at}
              className="absolute top-1 whitespace-nowrap"
              style={{ left: `${(at / data.length) * 100}%` }}
            >
              {barLabel(data[at]?.start ?? "", bucketMs, format)}
            </span>
          ))}
      </div>
    </div>
  );
}

const compact = (value: number): string =>
  value >= 1000 ? `${Number((value / 1000).toPrecision(3))}k` : formatCount(Number(value.toPrecision(3)));

function Key({ label, children }: { label: string | undefined; children: ReactNode }) {
  return (
    <span className="flex items-center gap-1.5">
      {children}
      {label}
    </span>
  );
}

/** Lines at the top, the middle and the bottom. */
function Grid() {
  return (
    <div className="absolute inset-0 flex flex-col justify-between" aria-hidden>
      <span className="border-t border-line" />
      <span className="border-t border-line" />
      <span className="border-t border-line-strong/60" />
    </div>
  );
}

type BarsProps<Row extends Bucket> = {
  rows: readonly Row[];
  /** Index of the first row. */
  from?: number;
  bars: readonly Bar<Row>[];
  top: number;
};

/** All bars of a kind as one shape: an element for each would be a tenth of a page. */
function Bars<Row extends Bucket>({ rows, from = 0, bars, top }: BarsProps<Row>) {
  const bases = rows.map(() => 100);
  return bars.map(({ key, color }) => {
    const shapes = rows.map((row, at) => {
      const value = Number(row[key]);
      if (value === 0) return "";
      const base = bases[at] ?? 0;
      // Every value is visible, even if tiny compared with the highest bar.
      const upper = Math.max(0, base - Math.max(1.5, (value / top) * 100));
      bases[at] = upper;
      return `M${(from + at + 0.14).toFixed(2)} ${base.toFixed(2)}V${upper.toFixed(2)}h.72V${base.toFixed(2)}`;
    });
    return <path key={key} data-bars={key} d={shapes.join("")} style={{ fill: color }} />;
  });
}

/** A small box above the plot, at a share of its width. */
function Hint({ share, children }: { share: number; children: ReactNode }) {
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute bottom-full z-10 mb-1 rounded-md border bg-raised px-2 py-1 text-xs whitespace-nowrap text-ink shadow-pop"
      style={{ left: `${share * 100}%`, transform: `translateX(-${share * 100}%)` }}
    >
      {children}
    </div>
  );
}
