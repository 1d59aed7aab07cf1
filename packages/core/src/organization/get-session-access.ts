import { type Permission, permissionsOf, requireUser } from "../authorize/index.ts";
import { type Context, type Role, roles } from "../context/index.ts";
import { listMemberships } from "./organization.store.ts";

/** What a session carries besides its user and organization. */
type SessionAccessView = { readonly role: Role | null; readonly permissions: readonly Permission[] };

/**
 * The signed-in user's role and permissions in the organization that their session names, else in their first one
 * (AUTH-4, AUTH-5). Null and none for a user without an organization, or with a role that this version doesn't know.
 */
export async function getSessionAccess(call: {
  ctx: Context;
  input: { readonly organizationId: string | null };
}): Promise<SessionAccessView> {
  const { ctx, input } = call;
  const memberships = await listMemberships(ctx.db, requireUser(ctx));
  const active = memberships.find(({ id }) => id === input.organizationId) ?? memberships[0];
  const role = roles.find((known) => known === active?.role) ?? null;
  return { role, permissions: role === null ? [] : permissionsOf(role) };
}
