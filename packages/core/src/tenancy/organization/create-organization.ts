import { organization } from "@towpath/db/schema";
import { audit } from "../../audit/index.ts";
import { requireUser } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { type CreateOrganizationInput, createOrganizationSchema } from "./organization.schema.ts";
import { addOwner, lockSlugs, type OrganizationView } from "./organization.store.ts";
import { freeSlugFor } from "./organization-slug.ts";

/** Creates an organization with a unique slug; the user becomes its owner (ONB-1). */
export async function createOrganization(call: Call<CreateOrganizationInput>): Promise<OrganizationView> {
  const { ctx } = call;
  const userId = requireUser(ctx);
  const { name } = parseInput(createOrganizationSchema, call.input);
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await lockSlugs(tx);
    const view = { id: newId(), slug: await freeSlugFor(tx, name), name };
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
