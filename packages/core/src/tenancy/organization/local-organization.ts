import { organization } from "@towpath/db/schema";
import { audit } from "../../audit/index.ts";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { isId } from "../../input/index.ts";
import {
  addOwner,
  countMembers,
  findOrganizationBySlug,
  findUser,
  instanceOrganization,
  localOrganizationSlug,
  lockSlugs,
  type OrganizationView,
  oldestUser,
} from "./organization.store.ts";

/**
 * The operator's default organization: `local` if it exists, else the oldest one; creates `local` if the instance has
 * none. The instance's first account owns it, immediately or from its sign-up on (`claimLocalOrganization`). Other
 * accounts don't become members automatically.
 */
export async function ensureLocalOrganization(call: { ctx: Context }): Promise<OrganizationView> {
  const { ctx } = call;
  authorizePlatform(ctx);
  return ctx.db.transaction(async (tx) => {
    await lockSlugs(tx);
    const found = await instanceOrganization(tx);
    if (found) return { id: found.id, slug: found.slug, name: found.name };
    const view = { id: newId(), slug: localOrganizationSlug, name: "Local" };
    await tx.insert(organization).values({ ...view, createdAt: ctx.clock.now() });
    await audit(tx, ctx, { organizationId: view.id, action: "organization.create", subject: view.id });
    const first = await oldestUser(tx);
    if (first) await addOwner(tx, { organizationId: view.id, userId: first.id, createdAt: ctx.clock.now() });
    return view;
  });
}

/**
 * Makes the instance's first account the owner of `local`, so that what was deployed from the terminal appears in the
 * browser. Null when there is no such organization, when it already has a member, and for all other accounts, which
 * must not get the operator's servers. Called by the sign-up hook.
 */
export async function claimLocalOrganization({
  ctx,
  input,
}: Call<{ readonly userId: string }>): Promise<OrganizationView | null> {
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
