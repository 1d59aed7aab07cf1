import { organization } from "@towpath/db/schema";
import { audit } from "../audit/index.ts";
import { requireUser } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { newId } from "../ids/index.ts";
import { parseInput } from "../input/index.ts";
import { isReservedSlug } from "../reserved-names/index.ts";
import { type CreateOrganizationInput, createOrganizationSchema } from "./organization.schema.ts";
import { addOwner, lockSlugs, type OrganizationView, takenSlugs } from "./organization.store.ts";

/** Creates an organization with a unique slug; the user becomes its owner (ONB-1). */
export async function createOrganization(call: {
  ctx: Context;
  input: CreateOrganizationInput;
}): Promise<OrganizationView> {
  const { ctx } = call;
  const userId = requireUser(ctx);
  const { name } = parseInput(createOrganizationSchema, call.input);
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await lockSlugs(tx);
    const stem = slugOf(name);
    const view = { id: newId(), slug: freeSlug(stem, await takenSlugs(tx, stem)), name };
    await tx.insert(organization).values({ ...view, createdAt: now });
    await addOwner(tx, { organizationId: view.id, userId, createdAt: now });
    await audit(tx, ctx, {
      organizationId: view.id,
      action: "organization.create",
      subject: view.id,
      detail: { name, slug: view.slug },
    });
    return view;
  });
}

const maxSlugLength = 40;

/** `Acme Inc.` → `acme-inc`: letters, digits and hyphens; `team` when nothing is left. */
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

/** The slug itself if it is free, else with the first free suffix `-2`, `-3`, … */
function freeSlug(stem: string, taken: ReadonlySet<string>): string {
  if (!taken.has(stem) && !isReservedSlug(stem)) return stem;
  for (let number = 2; ; number++) {
    const slug = `${stem}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}
