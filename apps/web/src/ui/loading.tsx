import { classNames } from "./class-names.ts";

/** A spinner in the color of the text that it decorates. */
export function Spinner({ className }: { className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      className={classNames("size-4 shrink-0 animate-spin", className)}
      fill="none"
      strokeWidth="2"
      aria-hidden="true"
    >
      <circle cx="8" cy="8" r="6" stroke="currentColor" opacity="0.22" />
      <path d="M14 8a6 6 0 0 0-6-6" stroke="currentColor" strokeLinecap="round" />
    </svg>
  );
}

/** A grey placeholder with the size of what is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={classNames("block h-4 animate-breathe rounded-md bg-hover", className)} />;
}

/** Placeholder rows, announced to screen readers once. */
export function SkeletonRows({ rows = 6, label = "Loading" }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="divide-y">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows without identity
        <div key={row} className="flex h-12 items-center gap-4 px-4">
          <Skeleton className="size-4 rounded-full" />
          <Skeleton className="h-3.5 w-1/3" />
          <Skeleton className="ml-auto h-3.5 w-1/6" />
          <Skeleton className="h-3.5 w-16 max-sm:hidden" />
        </div>
      ))}
    </div>
  );
}
