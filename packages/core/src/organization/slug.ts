import { isReservedSlug } from "../reserved-names/index.ts";

const maxSlugLength = 40;

/** `Acme Inc.` → `acme-inc`: letters, digits and hyphens; a name without any of them becomes `team`. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, maxSlugLength)
    .replace(/^-|-$/g, "");
  return slug === "" ? "team" : slug;
}

/** The slug itself when it is free, else the first of `-2`, `-3`, … that is. */
export function freeSlug(stem: string, taken: ReadonlySet<string>): string {
  if (!taken.has(stem) && !isReservedSlug(stem)) return stem;
  for (let number = 2; ; number++) {
    const slug = `${stem}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}
