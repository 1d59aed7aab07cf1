import { classNames } from "./class-names.ts";

type SparklineProps = {
  values: readonly (number | null)[];
  tone?: "accent" | "bad";
  className?: string;
};

/**
 * A number over time, oldest first, as a line of any width over a tinted area. Null: unknown, a gap. Hidden from screen
 * readers, as the figure beside it has the information.
 */
export function Sparkline({ values, tone = "accent", className }: SparklineProps) {
  const most = Math.max(...values.map((value) => value ?? 0));
  const step = values.length > 1 ? 100 / (values.length - 1) : 0;
  const y = (value: number) => (most === 0 ? 23 : 23 - (value / most) * 21);
  const runs = connected(values).map((run) =>
    run.map(({ at, value }) => `${(at * step).toFixed(2)} ${y(value).toFixed(2)}`),
  );
  const line = runs.map((points) => `M${points.join("L")}${points.length === 1 ? "h0.01" : ""}`).join("");
  const area = runs
    .map((points) => `M${points[0]?.split(" ")[0]} 24L${points.join("L")}L${points.at(-1)?.split(" ")[0]} 24Z`)
    .join("");
  const isFlat = most === 0;
  return (
    <svg
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      className={classNames("block h-6 w-full overflow-visible", className)}
      fill="none"
      aria-hidden="true"
    >
      {isFlat ? null : <path d={area} className={tone === "bad" ? "fill-bad-soft" : "fill-accent-soft"} />}
      <path
        d={line}
        className={isFlat ? "stroke-line" : tone === "bad" ? "stroke-bad" : "stroke-accent"}
        strokeWidth="1.5"
        strokeLinejoin="round"
        strokeLinecap="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}

/** The stretches of known values. */
function connected(values: readonly (number | null)[]): { at: number; value: number }[][] {
  const runs: { at: number; value: number }[][] = [];
  let isOpen = false;
  for (const [at, value] of values.entries()) {
    if (value !== null) {
      if (isOpen) runs.at(-1)?.push({ at, value });
      else runs.push([{ at, value }]);
    }
    isOpen = value !== null;
  }
  return runs;
}
