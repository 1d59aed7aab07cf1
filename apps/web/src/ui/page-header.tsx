import { Fragment, type ReactNode } from "react";
import { classNames } from "./class-names.ts";
import { SectionTabs } from "./page-tabs.tsx";

type PageHeaderProps = {
  title: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  /** Breadcrumbs or a link back. */
  above?: ReactNode;
  /** Whether the tabs of its section are below; default: not on pages of an item, with `above`. */
  hasTabs?: boolean;
  className?: string;
};

/** The top of a page: its title (the only h1), a description, its actions, and the tabs of its section. */
export function PageHeader({ title, description, actions, above, hasTabs = !above, className }: PageHeaderProps) {
  return (
    <header className={classNames("mb-6", className)}>
      {above && <div className="mb-2">{above}</div>}
      <div className="flex flex-wrap items-start gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-60">
          <h1 className="text-2xl font-semibold tracking-tight text-balance break-words">{title}</h1>
          {description && <div className="mt-1 max-w-3xl text-sm text-pretty text-muted">{description}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {hasTabs && <SectionTabs />}
    </header>
  );
}

type BreadcrumbsProps = {
  items: readonly { key: string; content: ReactNode }[];
  /** Must differ when a page has two of them. */
  label?: string;
};

/** Links to the parents of this page; the last item is the page itself, as text. */
export function Breadcrumbs({ items, label = "Breadcrumb" }: BreadcrumbsProps) {
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
