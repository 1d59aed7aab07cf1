import { LogoMark } from "~/ui/logo.tsx";
import { ThemeSwitch } from "~/ui/theme-switch.tsx";
import type { Site } from "./site.functions.ts";

const linkLook = "rounded-sm text-muted underline-offset-3 hover:text-ink hover:underline";

/** The end of every public page. */
export function SiteFooter({ site }: { readonly site: Site }) {
  const links = [
    { label: "Pricing", href: "/pricing" },
    { label: "Docs", href: site.docsUrl },
    { label: "Blog", href: "/blog" },
    { label: "RSS", href: "/rss.xml" },
  ];
  return (
    <footer className="border-t">
      <div className="mx-auto flex w-full max-w-[1280px] flex-wrap items-center gap-x-6 gap-y-4 px-4 py-6 text-sm sm:px-6">
        <a href="/" className="flex items-center gap-2 rounded-md text-muted hover:text-ink">
          <LogoMark className="size-5" />
          Towpath
        </a>
        <nav aria-label="Footer" className="flex flex-1 flex-wrap gap-x-5 gap-y-2">
          {links.map(({ label, href }) => (
            <a key={label} href={href} className={linkLook}>
              {label}
            </a>
          ))}
        </nav>
        <ThemeSwitch />
      </div>
    </footer>
  );
}
