import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Main } from "./main.tsx";

export type SidebarItem = {
  label: string;
  icon: ReactNode;
  link: Pick<LinkProps, "to" | "params" | "search">;
  /** Highlights the entry on pages with another URL, too. */
  active?: boolean;
  /** Only the page itself highlights the entry, not those below it. */
  exact?: boolean;
};
type SidebarGroup = { label: string; items: readonly SidebarItem[] };

/**
 * A page beside the navigation of its section. From 1024 px the navigation is a column that stays in view; below, the top
 * bar opens it as a drawer. The page is the document's `<main>`.
 */
export function SidebarLayout({ sidebar, children }: { sidebar: ReactNode; children: ReactNode }) {
  return (
    <div className="mx-auto flex w-full max-w-[96rem]">
      <div className="scroll-thin sticky top-[calc(4rem+1px)] h-[calc(100dvh-4rem-1px)] w-56 shrink-0 overflow-y-auto border-r px-4 py-5 max-lg:hidden">
        {sidebar}
      </div>
      <Main className="min-w-0 flex-1 px-4 py-6 outline-none sm:px-6 lg:px-8">{children}</Main>
    </div>
  );
}

type SidebarNavigationProps = {
  label: string;
  groups: readonly SidebarGroup[];
  /** Called when a link is followed: closes the drawer. */
  onNavigate?: () => void;
};

/** Grouped links to the screens of a section. Empty groups are left out. */
export function SidebarNavigation({ label, groups, onNavigate }: SidebarNavigationProps) {
  return (
    <nav aria-label={label} className="flex flex-col gap-5">
      {groups
        .filter(({ items }) => items.length > 0)
        .map((group) => (
          <div key={group.label} className="flex flex-col gap-0.5">
            <h2 className="px-2 pb-1 text-2xs font-medium text-faint">{group.label}</h2>
            {group.items.map((item) => (
              <Link
                key={item.label}
                {...item.link}
                activeOptions={{ includeSearch: false, exact: item.exact ?? false }}
                {...(item.active ? { "data-status": "active", "aria-current": "true" } : {})}
                {...(onNavigate ? { onClick: onNavigate } : {})}
                className="flex h-8 shrink-0 items-center gap-2 rounded-md px-2 text-sm text-muted transition-colors hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink max-lg:h-9 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint data-[status=active]:[&_svg]:text-accent-text"
              >
                {item.icon}
                <span className="min-w-0 truncate">{item.label}</span>
              </Link>
            ))}
          </div>
        ))}
    </nav>
  );
}
