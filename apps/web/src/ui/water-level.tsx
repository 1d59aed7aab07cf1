import { classNames } from "./class-names.ts";

type Tone = "accent" | "ok" | "bad" | "asleep";

const fills: Readonly<Record<Tone, string>> = {
  accent: "fill-accent",
  ok: "fill-ok",
  bad: "fill-bad",
  asleep: "fill-line-strong",
};

/**
 * A lock chamber with water: a build's progress (0 to 1), or a server that is awake (1) or asleep (low and grey). Put
 * it next to text with the same information. The level rises and falls; with reduced motion it jumps.
 */
export function WaterLevel({ level, tone, className }: { level: number; tone: Tone; className?: string }) {
  const height = 2 + 11 * Math.min(1, Math.max(0, level));
  return (
    <svg viewBox="0 0 16 16" className={classNames("size-4 shrink-0", className)} fill="none" aria-hidden="true">
      <g className={classNames(fills[tone], tone === "asleep" && "opacity-70")}>
        <path
          d="M3.5 0h9v14h-9z"
          className="transition-transform duration-500 ease-out"
          style={{ transform: `translateY(${15 - height}px)`, clipPath: `inset(0 0 ${14 - height}px 0)` }}
        />
      </g>
      <path d="M2 1v14h12V1" className="stroke-muted" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
