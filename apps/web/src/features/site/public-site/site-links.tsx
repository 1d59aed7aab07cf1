import { Star } from "lucide-react";
import type { Site } from "./site.functions.ts";

export const linkLook =
  "flex h-9 items-center rounded-md px-2.5 text-sm text-muted transition-colors hover:bg-hover hover:text-ink";

/** The framework's repository, with its stars. */
export function Stars({ site }: { readonly site: Site }) {
  return (
    <a
      href={site.starUrl}
      className={`${linkLook} gap-1.5`}
      rel="noreferrer"
      target="_blank"
      aria-label="17k+ stars on GitHub"
    >
      <Star className="size-4" />
      17k+
    </a>
  );
}

/** The site's pages. */
export function Pages({ site }: { readonly site: Site }) {
  const pages = [
    { label: "Blog", href: "/blog" },
    { label: "Docs", href: site.docsUrl },
    { label: "Pricing", href: "/pricing" },
  ];
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
