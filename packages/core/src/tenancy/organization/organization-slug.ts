import type { Database, Transaction } from "@towpath/db";
import { isReservedSlug } from "../../projects/reserved-names/index.ts";
import { takenSlugs } from "./organization.store.ts";

const maxSlugLength = 40;

/** `Acme Inc.` → `acme-inc`, with the first free suffix `-2`, `-3`, … if that is taken or reserved. */
export async function freeSlugFor(db: Database | Transaction, name: string): Promise<string> {
  const stem = slugOf(name);
  return freeSlug(stem, await takenSlugs(db, stem));
}

/** Letters, digits and hyphens; `team` when nothing is left. */
function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, maxSlugLength)
    .replace(/^-|-$/g, "");
  return slug === "" ? "team" : slug;
}

function freeSlug(stem: string, taken: ReadonlySet<string>): string {
  if (!taken.has(stem) && !isReservedSlug(stem)) return stem;
  for (let number = 2; ; number++) {
    const slug = `${stem}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}
