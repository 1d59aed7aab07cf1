import { ScriptOnce } from "@tanstack/react-router";
import { Menu, X } from "lucide-react";
import type { ReactNode } from "react";
import { buttonLook } from "~/ui/button.tsx";
import { Logo } from "~/ui/logo.tsx";
import type { Site } from "./site.functions.ts";
import { SiteFooter } from "./site-footer.tsx";
import { linkLook, Pages, Stars } from "./site-links.tsx";
import { siteScript } from "./site-script.ts";

/** Layout of the public site for visitors (PUB-1). */
export function PublicLayout({ site, children }: { readonly site: Site; readonly children: ReactNode }) {
  return (
    <>
      <PublicBar site={site} />
      <PublicPage site={site}>{children}</PublicPage>
    </>
  );
}

/** A page of the public site without its bar: signed-in users see it below the app's (PUB-3). */
export function PublicPage({ site, children }: { readonly site: Site; readonly children: ReactNode }) {
  return (
    <>
      {children}
      <SiteFooter site={site} />
      <ScriptOnce>{siteScript}</ScriptOnce>
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

const square = "size-9 px-0";

/** The public site's entries on a phone, in a drawer (PUB-2). A native dialog: `siteScript` opens it. */
function MobileMenu({ site }: { readonly site: Site }) {
  return (
    <>
      <button
        type="button"
        aria-label="Menu"
        aria-haspopup="dialog"
        data-opens="site-menu"
        className={buttonLook({ variant: "ghost", className: square })}
      >
        <Menu />
      </button>
      <dialog
        id="site-menu"
        aria-labelledby="site-menu-title"
        className="m-0 ml-auto h-dvh max-h-none w-72 max-w-[85vw] border-l bg-surface text-ink shadow-pop backdrop:bg-shade"
      >
        <div className="flex h-full flex-col gap-1 p-4">
          <div className="mb-2 flex items-center justify-between">
            <h2 id="site-menu-title" className="px-2.5 text-base font-semibold tracking-tight">
              Menu
            </h2>
            <button
              type="button"
              aria-label="Close menu"
              data-closes=""
              className={buttonLook({ variant: "ghost", className: square })}
            >
              <X />
            </button>
          </div>
          <nav aria-label="Menu" className="flex flex-col gap-1">
            <Stars site={site} />
            <Pages site={site} />
            <a href="/login" className={linkLook}>
              Sign in
            </a>
            <a href="/signup" className={buttonLook({ variant: "primary", size: "lg", className: "mt-2" })}>
              Get started for free
            </a>
          </nav>
        </div>
      </dialog>
    </>
  );
}
