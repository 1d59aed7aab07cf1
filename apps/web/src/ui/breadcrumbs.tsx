import { Fragment, type ReactNode } from "react";

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
