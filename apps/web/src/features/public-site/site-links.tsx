import { Star } from "lucide-react";

const repository = "https://github.com/jlowin/fastmcp";
const docs = "https://gofastmcp.com";

const pages = [
  { label: "Blog", href: "/blog" },
  { label: "Docs", href: docs },
  { label: "Pricing", href: "/pricing" },
] as const;

export const linkLook =
  "flex h-9 items-center rounded-md px-2.5 text-sm text-muted transition-colors hover:bg-hover hover:text-ink";

/** The framework's repository, with its stars. */
export function Stars() {
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

/** The site's pages. */
export function Pages() {
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
