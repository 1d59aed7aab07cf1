import { type Permission, permissionsOf, requireUser } from "../../authorize/index.ts";
import { type Call, type Role, roles } from "../../context/index.ts";
import { type ActiveOrganizationView, externalIdOf, listMemberships } from "./organization.store.ts";

/** What a session carries in addition to its user and organization. */
type SessionAccessView = {
  readonly activeOrganization: ActiveOrganizationView | null;
  readonly role: Role | null;
  readonly permissions: readonly Permission[];
};

/**
 * The organization that the signed-in user's session names, else their first one, with their role and permissions there
 * (AUTH-4, AUTH-5, AUTH-12). Null and none for a user without an organization, or with a role that this version doesn't know.
 */
export async function getSessionAccess({
  ctx,
  input,
}: Call<{ readonly organizationId: string | null }>): Promise<SessionAccessView> {
  const memberships = await listMemberships(ctx.db, requireUser(ctx));
  const active = memberships.find(({ id }) => id === input.organizationId) ?? memberships[0];
  const role = roles.find((known) => known === active?.role) ?? null;
  if (!active || role === null) return { activeOrganization: null, role: null, permissions: [] };
  const { id: orgId, slug: orgSlug, name: orgName } = active;
  const activeOrganization = { orgId, orgSlug, orgName, externalId: externalIdOf(active) };
  return { activeOrganization, role, permissions: permissionsOf(role) };
}
