import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

const looks = {
  neutral: "bg-hover text-muted",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  info: "bg-info-soft text-info",
  accent: "bg-accent-soft text-accent-text",
  outline: "border border-line-strong/60 text-muted",
};

type BadgeProps = {
  tone?: keyof typeof looks | undefined;
  mono?: boolean;
  children: ReactNode;
};

/** A short label beside its subject. */
export function Badge({ tone = "neutral", mono = false, children }: BadgeProps) {
  return (
    <span
      className={classNames(
        "inline-flex h-5 max-w-full shrink-0 items-center gap-1 rounded-full px-2 text-2xs font-medium whitespace-nowrap [&_svg]:size-3",
        looks[tone],
        mono && "font-mono",
      )}
    >
      {children}
    </span>
  );
}

export type Tone = "neutral" | "ok" | "warn" | "bad" | "info" | "accent";

const tones: Record<Tone, string> = {
  neutral: "bg-line-strong",
  ok: "bg-ok",
  warn: "bg-warn",
  bad: "bg-bad",
  info: "bg-info",
  accent: "bg-accent",
};

/** A colored dot. Put it next to text that says the same, because color alone must not carry a meaning. */
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
