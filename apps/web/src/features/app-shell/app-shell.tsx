import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { LogoMark } from "~/ui/logo.tsx";
import { OrganizationSwitcher, type SwitchableOrganization } from "./organization-switcher.tsx";
import { UserMenu, type UserMenuPerson } from "./user-menu.tsx";

/** Delay before the toaster is preloaded, in milliseconds: after the page, but before the network can go away. */
const toasterAfterMs = 3000;

/** The layout of everything behind sign-in (PUB-3): a bar of 64 px, then the page. */
export function AppShell({
  person,
  organizations,
  active,
  bar,
  children,
}: {
  readonly person: UserMenuPerson;
  readonly organizations: readonly SwitchableOrganization[];
  /** Null before the first organization exists. */
  readonly active: SwitchableOrganization | null;
  /** Navigation links for the bar. */
  readonly bar?: ReactNode;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    const timer = setTimeout(() => void import("~/ui/toaster.tsx").catch(() => {}), toasterAfterMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2 focus:text-sm focus:shadow-pop"
      >
        Skip to content
      </a>
      <header className="z-30 border-b bg-canvas lg:sticky lg:top-0">
        <div className="mx-auto flex h-16 w-full max-w-[96rem] items-center gap-2 px-4 sm:gap-3 sm:px-6">
          <Link
            to={active ? "/$orgSlug/servers" : "/"}
            {...(active ? { params: { orgSlug: active.slug } } : {})}
            className="rounded-md"
            aria-label="Towpath, your servers"
          >
            <LogoMark />
          </Link>
          {active ? (
            <>
              <span aria-hidden className="text-line-strong">
                /
              </span>
              <OrganizationSwitcher organizations={organizations} active={active} />
            </>
          ) : null}
          <div className="flex min-w-0 flex-1 items-center justify-end gap-1 sm:gap-2">
            {bar}
            <UserMenu person={person} />
          </div>
        </div>
      </header>
      <div id="content">{children}</div>
    </>
  );
}
