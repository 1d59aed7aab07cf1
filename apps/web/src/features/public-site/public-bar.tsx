import { Menu as MenuIcon, Star } from "lucide-react";
import { useState } from "react";
import { buttonLook } from "~/ui/button.tsx";
import { Drawer } from "~/ui/drawer.tsx";
import { IconButton } from "~/ui/icon-button.tsx";
import { Logo } from "~/ui/logo.tsx";

const repository = "https://github.com/jlowin/fastmcp";
const docs = "https://gofastmcp.com";

const pages = [
  { label: "Blog", href: "/blog" },
  { label: "Docs", href: docs },
  { label: "Pricing", href: "/pricing" },
] as const;

const linkLook =
  "flex h-9 items-center rounded-md px-2.5 text-sm text-muted transition-colors hover:bg-hover hover:text-ink";

function Stars() {
  return (
    <a
      href={repository}
      className={`${linkLook} gap-1.5`}
      rel="noreferrer"
      target="_blank"
      aria-label="17k+ stars on GitHub"
    >
      <Star className="size-4" aria-hidden />
      17k+
    </a>
  );
}

function Pages() {
  return pages.map(({ label, href }) => (
    <a
      key={label}
      href={href}
      className={linkLook}
      {...(href.startsWith("http") ? { rel: "noreferrer", target: "_blank" } : {})}
    >
      {label}
    </a>
  ));
}

/** Top bar of the public site: 64 px high, at most 1280 px wide (PUB-1), a drawer on small screens (PUB-2). */
export function PublicBar() {
  const [open, setOpen] = useState(false);
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
          <Drawer
            open={open}
            onOpenChange={setOpen}
            trigger={
              <IconButton label="Menu" size="md">
                <MenuIcon aria-hidden />
              </IconButton>
            }
            title="Menu"
          >
            <nav aria-label="Site" className="flex flex-col gap-1 p-3">
              <Stars />
              <Pages />
              <a href="/login" className={linkLook}>
                Sign in
              </a>
              <a href="/signup" className={buttonLook({ variant: "primary", size: "lg", className: "mt-2" })}>
                Get started for free
              </a>
            </nav>
          </Drawer>
        </div>
      </div>
    </header>
  );
}
