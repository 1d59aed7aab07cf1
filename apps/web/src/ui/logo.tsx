import { classNames } from "./class-names.ts";

/** The mark: a canal lock from above. Two banks, and the mitred gates that let one vessel through at a time. */
export function LogoMark({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 24 24" className={classNames("size-6 shrink-0", className)} aria-hidden fill="none">
      <rect width="24" height="24" rx="6" className="fill-accent" />
      <g className="stroke-on-accent" strokeWidth="2" strokeLinecap="round" strokeLinejoin="round">
        <path d="M6.5 5v14M17.5 5v14" />
        <path d="m6.5 12.2 5.5-3.7 5.5 3.7" />
        <path d="m6.5 18 5.5-3.7 5.5 3.7" opacity="0.5" />
      </g>
    </svg>
  );
}

/** Mark and name. */
export function Logo({ className }: { className?: string }) {
  return (
    <span className={classNames("flex items-center gap-2", className)}>
      <LogoMark />
      <span className="text-[1.0625rem] leading-none font-semibold tracking-[-0.035em]">towpath</span>
    </span>
  );
}
