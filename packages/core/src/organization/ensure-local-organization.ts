import { organization } from "@towpath/db/schema";
import { audit } from "../audit/index.ts";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { newId } from "../ids/index.ts";
import { addOwner, findOrganizationBySlug, lockSlugs, oldestOrganization, oldestUser } from "./organization.store.ts";
import type { OrganizationView } from "./organization.view.ts";

export const localOrganizationSlug = "local";

/**
 * The organization that the operator works in without naming one: `local` when it exists, else the oldest; when the
 * instance has none yet, `local` is created. It belongs to the instance's first account: at once when there is one,
 * else from its sign-up on (`claimLocalOrganization`). Later accounts never get it by themselves.
 */
export async function ensureLocalOrganization(call: { ctx: Context }): Promise<OrganizationView> {
  const { ctx } = call;
  authorizePlatform(ctx);
  return ctx.db.transaction(async (tx) => {
    await lockSlugs(tx);
    const found = (await findOrganizationBySlug(tx, localOrganizationSlug)) ?? (await oldestOrganization(tx));
    if (found) return { id: found.id, slug: found.slug, name: found.name };
    const view = { id: newId(), slug: localOrganizationSlug, name: "Local" };
    await tx.insert(organization).values({ ...view, createdAt: ctx.clock.now() });
    await audit(tx, ctx, { organizationId: view.id, action: "organization.create", subject: view.id });
    const first = await oldestUser(tx);
    if (first) await addOwner(tx, { organizationId: view.id, userId: first.id, createdAt: ctx.clock.now() });
    return view;
  });
}
