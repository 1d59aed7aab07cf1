import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

// Not in callout.tsx: pending and error views of routes are in the first load, and its icons must not be.

/** Replaces an empty list: what belongs there, and the next step. `drawing`: from drawings.tsx, instead of an icon. */
export function EmptyState({
  icon,
  drawing,
  title,
  children,
  actions,
  className,
  heading: Heading = "h2",
}: {
  icon?: ReactNode;
  drawing?: ReactNode;
  title: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
  className?: string;
  /** `h1` where it is all that the page shows. */
  heading?: "h1" | "h2" | "h3";
}) {
  return (
    <div className={classNames("mx-auto flex max-w-md flex-col items-center px-4 py-14 text-center", className)}>
      {drawing}
      {icon && (
        <span className="mb-3 flex size-10 items-center justify-center rounded-full bg-accent-soft text-accent-text [&_svg]:size-5">
          {icon}
        </span>
      )}
      <Heading className="text-lg font-semibold tracking-tight">{title}</Heading>
      {children && <div className="mt-1 text-sm text-pretty text-muted">{children}</div>}
      {actions && <div className="mt-4 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}
