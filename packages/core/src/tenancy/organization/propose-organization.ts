import { requireUser } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { displayNameOf } from "./get-profile.ts";
import { organizationNameSchema } from "./organization.schema.ts";
import { findUser } from "./organization.store.ts";
import { freeSlugFor } from "./organization-slug.ts";

/**
 * A name for the signed-in user's first organization, which is their own, and the slug that it would get now (SRC-4). Null
 * when their name can't be an organization's.
 */
export async function proposeOrganization(call: {
  ctx: Context;
}): Promise<{ readonly name: string; readonly slug: string } | null> {
  const { ctx } = call;
  const person = await findUser(ctx.db, requireUser(ctx));
  if (!person) throw notFound("profile");
  const { data: name } = organizationNameSchema.safeParse(displayNameOf(person));
  return name === undefined ? null : { name, slug: await freeSlugFor(ctx.db, name) };
}
