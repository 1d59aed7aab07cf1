import { classNames } from "./class-names.ts";

export type Tone = "neutral" | "ok" | "warn" | "bad" | "info" | "accent";

const tones: Record<Tone, string> = {
  neutral: "bg-line-strong",
  ok: "bg-ok",
  warn: "bg-warn",
  bad: "bg-bad",
  info: "bg-info",
  accent: "bg-accent",
};

/** A coloured dot beside a text that says the same: colour alone never carries a meaning. */
export function StatusDot({ tone, pulse = false, className }: { tone: Tone; pulse?: boolean; className?: string }) {
  return (
    <span
      aria-hidden
      className={classNames(
        "inline-block size-2 shrink-0 rounded-full",
        tones[tone],
        pulse && "animate-breathe",
        className,
      )}
    />
  );
}
