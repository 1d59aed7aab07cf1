import { Fragment, type ReactNode } from "react";
import { classNames } from "./class-names.ts";

/** The first lines of a page: its name (the only h1), a sentence, its actions. */
export function PageHeader({
  title,
  description,
  actions,
  above,
  className,
}: {
  title: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  /** Breadcrumbs or a way back. */
  above?: ReactNode;
  className?: string;
}) {
  return (
    <header className={classNames("mb-5", className)}>
      {above && <div className="mb-2">{above}</div>}
      <div className="flex flex-wrap items-start gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-60">
          <h1 className="text-xl font-semibold tracking-tight text-balance">{title}</h1>
          {description && <div className="mt-0.5 max-w-prose text-sm text-muted">{description}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
    </header>
  );
}

/** The way to this page; the last one is where one is. Items are links, the last a text. */
export function Breadcrumbs({
  items,
  label = "Breadcrumb",
}: {
  items: readonly { key: string; content: ReactNode }[];
  /** Tells two of them on one page apart. */
  label?: string;
}) {
  return (
    <nav aria-label={label}>
      <ol className="flex min-w-0 flex-wrap items-center gap-1.5 text-sm text-muted [&_a]:rounded-sm [&_a:hover]:text-ink">
        {items.map((item, index) => (
          <Fragment key={item.key}>
            {index > 0 && (
              <li aria-hidden className="text-faint">
                /
              </li>
            )}
            <li
              aria-current={index === items.length - 1 ? "page" : undefined}
              className="min-w-0 truncate aria-[current=page]:font-medium aria-[current=page]:text-ink"
            >
              {item.content}
            </li>
          </Fragment>
        ))}
      </ol>
    </nav>
  );
}
