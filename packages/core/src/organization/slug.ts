/** First path segments of the dashboard: an organization of that name could never be reached. */
const reservedSlugs = new Set(
  (
    "login signup logout pricing blog docs new app account welcome api assets auth oauth settings static public admin " +
    "provider servers portals healthz metrics favicon robots sitemap rss local"
  ).split(" "),
);

const longestSlug = 40;

/** `Acme Inc.` → `acme-inc`: letters, digits and hyphens; a name without any of them becomes `team`. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, longestSlug)
    .replace(/^-|-$/g, "");
  return slug === "" ? "team" : slug;
}

/** The slug itself when it is free, else the first of `-2`, `-3`, … that is. */
export function freeSlug(stem: string, taken: ReadonlySet<string>): string {
  if (!taken.has(stem) && !reservedSlugs.has(stem)) return stem;
  for (let number = 2; ; number++) {
    const slug = `${stem}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}
