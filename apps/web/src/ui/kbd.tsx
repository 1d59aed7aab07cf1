import type { ReactNode } from "react";

/** A key to press. */
export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-sm border border-line-strong/50 bg-surface px-1 font-sans text-2xs text-muted">
      {children}
    </kbd>
  );
}
