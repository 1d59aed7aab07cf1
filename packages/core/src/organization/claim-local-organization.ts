import { audit } from "../audit/index.ts";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound } from "../errors/index.ts";
import { isId } from "../input/index.ts";
import { localOrganizationSlug } from "./ensure-local-organization.ts";
import {
  addOwner,
  countMembers,
  findOrganizationBySlug,
  findUser,
  lockSlugs,
  oldestUser,
} from "./organization.store.ts";
import type { OrganizationView } from "./organization.view.ts";

/**
 * Makes the first account of an instance owner of `local`, so that what was deployed from the terminal is there in
 * the browser. Null when there is no such organization, when it has a member already, and for every account but the
 * instance's first: later accounts must not inherit the operator's servers. For the sign-up hook.
 */
export async function claimLocalOrganization(call: {
  ctx: Context;
  input: { readonly userId: string };
}): Promise<OrganizationView | null> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  return ctx.db.transaction(async (tx) => {
    await lockSlugs(tx);
    const found = await findOrganizationBySlug(tx, localOrganizationSlug);
    if (!found || (await countMembers(tx, found.id)) > 0) return null;
    if (!isId(input.userId) || !(await findUser(tx, input.userId))) throw notFound("user");
    if ((await oldestUser(tx))?.id !== input.userId) return null;
    await addOwner(tx, { organizationId: found.id, userId: input.userId, createdAt: ctx.clock.now() });
    await audit(tx, ctx, { organizationId: found.id, action: "organization.claim", subject: input.userId });
    return { id: found.id, slug: found.slug, name: found.name };
  });
}
