import { authorize, permissionsOf } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import type { OrganizationAccessView } from "./organization.view.ts";

/**
 * Which organization a slug names, and what the actor is in it (ORG-11).
 *
 * @throws TowpathError `forbidden` for non-members, whether it exists or not (ERR-1).
 */
export async function getOrganizationAccess(call: {
  ctx: Context;
  input: { readonly orgSlug: string };
}): Promise<OrganizationAccessView> {
  const { organization, role } = await authorize(call.ctx, "organization.read", { orgSlug: call.input.orgSlug });
  return { ...organization, role, permissions: permissionsOf(role) };
}
