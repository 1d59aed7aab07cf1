import { Menu as MenuIcon } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { buttonLook } from "~/ui/button.tsx";
import { Logo } from "~/ui/logo.tsx";
import { linkLook, Pages, Stars } from "./site-links.tsx";

/** Layout of the public site (PUB-1). */
export function PublicLayout({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <PublicBar />
      <div id="content">{children}</div>
    </>
  );
}

/** Loaded when first opened. */
const MobileMenu = lazy(() => import("./mobile-menu.tsx"));

/** Top bar of the public site: 64 px high, at most 1280 px wide (PUB-1), a drawer on small screens (PUB-2). */
function PublicBar() {
  const [open, setOpen] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  return (
    <header className="sticky top-0 z-30 border-b bg-canvas">
      <div className="mx-auto flex h-16 w-full max-w-[1280px] items-center gap-1 px-4 sm:px-6">
        <a href="/" aria-label="Towpath home" className="mr-2 rounded-md">
          <Logo />
        </a>
        <nav aria-label="Site" className="flex flex-1 items-center justify-end gap-1 max-md:hidden">
          <Stars />
          <Pages />
          <a href="/login" className={linkLook}>
            Sign in
          </a>
          <a href="/signup" className={buttonLook({ variant: "primary", className: "ml-1" })}>
            Sign up
          </a>
        </nav>
        <div className="flex flex-1 justify-end md:hidden">
          <button
            type="button"
            aria-label="Menu"
            aria-haspopup="dialog"
            aria-expanded={open}
            className={buttonLook({ variant: "ghost", className: "size-8 px-0" })}
            onClick={() => {
              setWasOpened(true);
              setOpen(true);
            }}
          >
            <MenuIcon aria-hidden />
          </button>
          {wasOpened ? (
            <Suspense>
              <MobileMenu open={open} onOpenChange={setOpen} />
            </Suspense>
          ) : null}
        </div>
      </div>
    </header>
  );
}
