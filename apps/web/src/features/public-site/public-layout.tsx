import { ScriptOnce } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { AppShell } from "~/features/app-shell/app-shell.tsx";
import { buttonLook } from "~/ui/button.tsx";
import { Logo } from "~/ui/logo.tsx";
import { MobileMenu } from "./mobile-menu.tsx";
import type { Site } from "./site.functions.ts";
import { SiteFooter } from "./site-footer.tsx";
import { linkLook, Pages, Stars } from "./site-links.tsx";
import { siteScript } from "./site-script.ts";
import type { Viewer } from "./viewer.ts";

/** Layout of the public site (PUB-1). Signed-in users see the app's bar instead of the public one (PUB-3). */
export function PublicLayout({
  site,
  viewer,
  children,
}: {
  readonly site: Site;
  readonly viewer: Viewer | null;
  readonly children: ReactNode;
}) {
  const page = (
    <>
      {children}
      <SiteFooter site={site} />
      <ScriptOnce>{siteScript}</ScriptOnce>
    </>
  );
  if (viewer) {
    return (
      <AppShell profile={viewer.profile} organization={viewer.organization} hasSidebar={false}>
        {page}
      </AppShell>
    );
  }
  return (
    <>
      <PublicBar site={site} />
      {page}
    </>
  );
}

/** Top bar of the public site: 64 px high, at most 1280 px wide (PUB-1), a drawer on small screens (PUB-2). */
function PublicBar({ site }: { readonly site: Site }) {
  return (
    <header className="sticky top-0 z-30 border-b bg-canvas">
      <div className="mx-auto flex h-16 w-full max-w-[1280px] items-center gap-1 px-4 sm:px-6">
        <a href="/" aria-label="Towpath home" className="mr-2 rounded-md">
          <Logo />
        </a>
        <nav aria-label="Site" className="flex flex-1 items-center justify-end gap-1 max-md:hidden">
          <Stars site={site} />
          <Pages site={site} />
          <a href="/login" className={linkLook}>
            Sign in
          </a>
          <a href="/signup" className={buttonLook({ variant: "primary", className: "ml-1" })}>
            Sign up
          </a>
        </nav>
        <div className="flex flex-1 justify-end md:hidden">
          <MobileMenu site={site} />
        </div>
      </div>
    </header>
  );
}
