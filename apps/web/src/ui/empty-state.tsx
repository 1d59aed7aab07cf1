import { lazy, type ReactNode, Suspense } from "react";
import { classNames } from "./class-names.ts";
import type { LessonProps } from "./empty-state-lesson.tsx";

// Not in callout.tsx: pending and error views of routes are in the first load, and its icons must not be. What teaches is
// loaded for lists that are still empty only.
const Lesson = lazy(() => import("./empty-state-lesson.tsx"));

type EmptyStateProps = Partial<LessonProps> & {
  icon?: ReactNode;
  /** From drawings.tsx, instead of an icon. */
  drawing?: ReactNode;
  title: ReactNode;
  children?: ReactNode;
  className?: string;
  /** `h1` where it is all that the page shows. */
  heading?: "h1" | "h2" | "h3";
};

/** Replaces an empty list: what belongs there, an example of it, the next step, and where to read more. */
export function EmptyState({
  icon,
  drawing,
  title,
  children,
  example,
  docs,
  actions,
  className,
  heading: Heading = "h2",
}: EmptyStateProps) {
  return (
    <div
      className={classNames(
        "mx-auto flex flex-col items-center px-4 py-14 text-center",
        example ? "max-w-xl" : "max-w-md",
        className,
      )}
    >
      {drawing}
      {icon && (
        <span className="mb-3 flex size-10 items-center justify-center rounded-full bg-accent-soft text-accent-text [&_svg]:size-5">
          {icon}
        </span>
      )}
      <Heading className="text-lg font-semibold tracking-tight">{title}</Heading>
      {children && <div className="mt-1 text-sm text-pretty text-muted">{children}</div>}
      {docs || example ? (
        <Suspense>
          <Lesson example={example} docs={docs} actions={actions} />
        </Suspense>
      ) : (
        actions && <div className="mt-4 flex flex-wrap justify-center gap-2">{actions}</div>
      )}
    </div>
  );
}
