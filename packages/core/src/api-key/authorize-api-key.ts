import { authorize, type OrganizationAccess, roleMay } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { type ApiKeyRow, creatorOf, requireApiKey } from "./api-key.store.ts";

/**
 * Access to end a key: those who manage all keys, and whoever made it.
 *
 * @throws TowpathError `not_found` for a key that the organization does not have, `forbidden` for one of a colleague.
 */
export async function authorizeApiKey(
  ctx: Context,
  scope: { readonly orgSlug: string; readonly keyId: string },
): Promise<OrganizationAccess & { readonly key: ApiKeyRow }> {
  const access = await authorize(ctx, "apiKey.create", { orgSlug: scope.orgSlug });
  const key = await requireApiKey(ctx.db, access.organization.id, scope.keyId);
  const own = ctx.actor.kind === "user" && creatorOf(key) === ctx.actor.userId;
  if (own || roleMay(access.role, "apiKey.manage")) return { ...access, key };
  throw new TowpathError("forbidden", "Forbidden: only admins may end a key that somebody else made.");
}
