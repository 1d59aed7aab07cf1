import { Link, type LinkProps } from "@tanstack/react-router";
import { createContext, useContext, useEffect, useRef } from "react";

/** The pages of a section. */
export type PageTabs = {
  readonly label: string;
  readonly tabs: readonly {
    readonly label: string;
    readonly link: Pick<LinkProps, "to" | "params" | "search">;
    readonly isOpen: boolean;
  }[];
};

/** Those of the open page; null: it is alone. */
export const PageTabsContext = createContext<PageTabs | null>(null);

/** Links to the pages of the open section, as a row that scrolls on phones. */
export function SectionTabs() {
  const section = useContext(PageTabsContext);
  const row = useRef<HTMLElement>(null);
  const open = section?.tabs.find(({ isOpen }) => isOpen)?.label;
  useEffect(() => {
    const link = open && row.current?.querySelector<HTMLElement>("[data-open]");
    // Not scrollIntoView, which would scroll the page, too.
    if (link && row.current)
      row.current.scrollLeft = link.offsetLeft - (row.current.clientWidth - link.offsetWidth) / 2;
  }, [open]);
  if (!section) return null;
  return (
    <nav
      ref={row}
      aria-label={section.label}
      className="scroll-thin scroll-hint relative mt-4 flex gap-1 overflow-x-auto border-b"
    >
      {section.tabs.map(({ label, link, isOpen }) => (
        <Link
          key={label}
          {...link}
          activeOptions={{ exact: true, includeSearch: false }}
          {...(isOpen ? { "data-open": "", "aria-current": "page" } : {})}
          className="flex h-9 shrink-0 items-center rounded-t-md border-b-2 border-transparent px-2.5 text-sm font-medium text-muted -outline-offset-2 transition-colors hover:text-ink data-open:border-accent data-open:text-ink"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
