import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

const looks = {
  info: { box: "bg-info-soft", icon: <Info className="text-info" aria-hidden /> },
  ok: { box: "bg-ok-soft", icon: <CircleCheck className="text-ok" aria-hidden /> },
  warn: { box: "bg-warn-soft", icon: <TriangleAlert className="text-warn" aria-hidden /> },
  bad: { box: "bg-bad-soft", icon: <CircleAlert className="text-bad" aria-hidden /> },
};

/** An important message within a page. */
export function Callout({
  tone = "info",
  title,
  children,
  actions,
  className,
}: {
  tone?: keyof typeof looks;
  title?: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
  className?: string;
}) {
  return (
    <div
      role={tone === "bad" ? "alert" : undefined}
      className={classNames("flex gap-2.5 rounded-lg px-3.5 py-2.5 text-sm", looks[tone].box, className)}
    >
      <span className="mt-0.5 [&_svg]:size-4">{looks[tone].icon}</span>
      <div className="min-w-0 flex-1">
        {title && <p className="font-medium">{title}</p>}
        {children && <div className="break-words text-ink/85">{children}</div>}
        {actions && <div className="mt-2 flex flex-wrap gap-2 empty:hidden">{actions}</div>}
      </div>
    </div>
  );
}

/** In place of an empty list: says what belongs there, and the next step. */
export function EmptyState({
  icon,
  title,
  children,
  actions,
  className,
}: {
  icon?: ReactNode;
  title: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
  className?: string;
}) {
  return (
    <div className={classNames("mx-auto flex max-w-md flex-col items-center px-4 py-14 text-center", className)}>
      {icon && (
        <span className="mb-3 flex size-10 items-center justify-center rounded-full bg-accent-soft text-accent-text [&_svg]:size-5">
          {icon}
        </span>
      )}
      <h2 className="text-base font-semibold tracking-tight">{title}</h2>
      {children && <div className="mt-1 text-sm text-pretty text-muted">{children}</div>}
      {actions && <div className="mt-4 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}
