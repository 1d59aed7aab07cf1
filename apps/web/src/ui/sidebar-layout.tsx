import { Link, type LinkProps, useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

type SidebarItem = {
  label: string;
  icon: ReactNode;
  link: Pick<LinkProps, "to" | "params" | "search">;
  /** Highlights the entry on pages that belong to it but have another URL. */
  active?: boolean;
};
export type SidebarGroup = { label: string; items: readonly SidebarItem[] };

/**
 * Content next to grouped navigation. From 1024 px the navigation is a column that stays in view; below, it is a strip
 * that scrolls sideways, so that phones need no menu to switch screens. Empty groups are left out.
 */
export function SidebarLayout({
  groups,
  label,
  children,
}: {
  groups: readonly SidebarGroup[];
  label: string;
  children: ReactNode;
}) {
  const shown = groups.filter((group) => group.items.length > 0);
  const navigation = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // The strip is wider than a phone: show where the person is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the active entry changes with the path
  useEffect(() => {
    const strip = navigation.current;
    const active = strip?.querySelector<HTMLElement>("[data-status=active]");
    if (active) strip?.scrollTo({ left: active.offsetLeft - (strip.clientWidth - active.offsetWidth) / 2 });
  }, [pathname]);
  return (
    <div className="mx-auto flex w-full max-w-[96rem] flex-col lg:flex-row">
      <nav
        ref={navigation}
        aria-label={label}
        className="scroll-thin sticky top-0 z-20 flex shrink-0 gap-1 overflow-x-auto border-b bg-canvas px-3 py-1.5 lg:top-16 lg:h-[calc(100dvh-4rem)] lg:w-52 lg:flex-col lg:gap-5 lg:overflow-y-auto lg:border-r lg:border-b-0 lg:px-3 lg:py-5"
      >
        {shown.map((group) => (
          <div key={group.label} className="flex shrink-0 gap-1 lg:flex-col lg:gap-0.5">
            <h2 className="px-2 pb-1 text-2xs font-medium text-faint max-lg:sr-only">{group.label}</h2>
            {group.items.map((item) => (
              <Link
                key={item.label}
                {...item.link}
                activeOptions={{ includeSearch: false }}
                {...(item.active ? { "data-status": "active" } : {})}
                className="flex h-8 shrink-0 items-center gap-2 rounded-md px-2 text-sm text-muted transition-colors hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink [&_svg]:size-4 [&_svg]:text-faint data-[status=active]:[&_svg]:text-accent-text"
              >
                {item.icon}
                {item.label}
              </Link>
            ))}
          </div>
        ))}
      </nav>
      <main className="min-w-0 flex-1 px-4 py-5 sm:px-6">{children}</main>
    </div>
  );
}
