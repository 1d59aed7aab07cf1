import { Menu, X } from "lucide-react";
import { buttonLook } from "~/ui/button.tsx";
import type { Site } from "./site.functions.ts";
import { linkLook, Pages, Stars } from "./site-links.tsx";

const square = "size-9 px-0";

/** The public site's entries on a phone, in a drawer (PUB-2). A native dialog: `siteScript` opens it. */
export function MobileMenu({ site }: { readonly site: Site }) {
  return (
    <>
      <button
        type="button"
        aria-label="Menu"
        aria-haspopup="dialog"
        data-opens="site-menu"
        className={buttonLook({ variant: "ghost", className: square })}
      >
        <Menu aria-hidden />
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
              <X aria-hidden />
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
