import { organization } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { isReservedSlug } from "../../projects/reserved-names/index.ts";
import { type UpdateOrganizationInput, updateOrganizationSchema } from "./organization.schema.ts";
import { findOrganizationBySlug, lockSlugs, type OrganizationView } from "./organization.store.ts";

/**
 * Changes an organization's name, its slug, or both. Servers keep their addresses, which don't contain the slug. Pages
 * under the old slug lead to the same pages under the new one for whoever has the organization open (AUTH-8), and git to the
 * repositories at their new addresses (SRC-3).
 *
 * @throws TowpathError `invalid_input` with `fields.slug` for one that is taken or reserved
 */
export async function updateOrganization(call: {
  ctx: Context;
  input: UpdateOrganizationInput & { readonly orgSlug: string };
}): Promise<OrganizationView> {
  const { ctx } = call;
  const { organization: found } = await authorize(ctx, "organization.manage", { orgSlug: call.input.orgSlug });
  const change = parseInput(updateOrganizationSchema, call.input);
  return ctx.db.transaction(async (tx) => {
    await lockSlugs(tx);
    const [before] = await tx.select().from(organization).where(eq(organization.id, found.id));
    const view = { id: found.id, name: change.name ?? found.name, slug: change.slug ?? found.slug };
    if (!before || (view.name === before.name && view.slug === before.slug)) return view;
    if (view.slug !== before.slug) {
      if (isReservedSlug(view.slug)) throw unusableSlug("This address is reserved. Choose another one.");
      if (await findOrganizationBySlug(tx, view.slug)) throw unusableSlug("This address is taken. Choose another one.");
    }
    const slugs = [...new Set([before.slug, ...before.formerSlugs])].filter((slug) => slug !== view.slug);
    const { name, slug } = view;
    await tx
      .update(organization)
      .set({ name, slug, formerSlugs: slugs.slice(0, maxFormerSlugs) })
      .where(eq(organization.id, found.id));
    await audit(tx, ctx, {
      organizationId: found.id,
      action: "organization.update",
      subject: found.id,
      detail: {
        ...(view.name !== before.name && { name: { from: before.name, to: view.name } }),
        ...(view.slug !== before.slug && { slug: { from: before.slug, to: view.slug } }),
      },
    });
    return view;
  });
}

/** So that nobody grows a row by renaming. */
const maxFormerSlugs = 10;

const unusableSlug = (text: string) => new TowpathError("invalid_input", text, { fields: { slug: text } });
