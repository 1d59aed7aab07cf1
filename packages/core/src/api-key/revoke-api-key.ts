import { apikey } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import { authorize, type OrganizationAccess, roleMay } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { type ApiKeyRow, apiKeyView, requireApiKey } from "./api-key.store.ts";
import type { ApiKeyView } from "./api-key.view.ts";

/** Makes a key useless at once and for good; it stays in the list (KEY-3). Idempotent. */
export async function revokeApiKey(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly keyId: string };
}): Promise<ApiKeyView> {
  const { ctx, input } = call;
  const { organization, key } = await authorizeApiKey(ctx, input);
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx
      .update(apikey)
      .set({ enabled: false, updatedAt: ctx.clock.now() })
      .where(and(eq(apikey.organizationId, organization.id), eq(apikey.id, key.id)))
      .returning();
    if (!row) throw notFound("API key");
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "apiKey.revoke",
      subject: row.id,
      detail: { name: row.name },
    });
    return apiKeyView(ctx, row);
  });
}

/** Removes a key from the list; it stops working at once (KEY-3). */
export async function deleteApiKey(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly keyId: string };
}): Promise<{ readonly id: string }> {
  const { ctx, input } = call;
  const { organization, key } = await authorizeApiKey(ctx, input);
  await ctx.db.transaction(async (tx) => {
    await tx.delete(apikey).where(and(eq(apikey.organizationId, organization.id), eq(apikey.id, key.id)));
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "apiKey.delete",
      subject: key.id,
      detail: { name: key.name },
    });
  });
  return { id: key.id };
}

/**
 * Who may revoke a key: members who manage all keys, and its creator.
 *
 * @throws TowpathError `not_found` for a key that the organization does not have, `forbidden` for one of a colleague.
 */
async function authorizeApiKey(
  ctx: Context,
  scope: { readonly orgSlug: string; readonly keyId: string },
): Promise<OrganizationAccess & { readonly key: ApiKeyRow }> {
  const access = await authorize(ctx, "apiKey.create", { orgSlug: scope.orgSlug });
  const key = await requireApiKey(ctx.db, access.organization.id, scope.keyId);
  const own = ctx.actor.kind === "user" && key.createdByUserId === ctx.actor.userId;
  if (own || roleMay(access.role, "apiKey.manage")) return { ...access, key };
  throw new TowpathError("forbidden", "Forbidden: only admins may end a key that somebody else made.");
}
