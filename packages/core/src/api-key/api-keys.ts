import { newApiKey } from "@towpath/auth/credentials";
import { apikey } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import { authorize, type OrganizationAccess, roleMay } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { newId } from "../ids/index.ts";
import { parseInput } from "../input/index.ts";
import { type CreateApiKeyInput, createApiKeySchema } from "./api-key.schema.ts";
import {
  type ApiKeyRow,
  type ApiKeyView,
  apiKeyView,
  listApiKeyRows,
  type NewApiKeyView,
  requireApiKey,
} from "./api-key.store.ts";

const dayMs = 86_400_000;

/** Creates an API key of the organization. Only this result contains the key itself (KEY-3). */
export async function createApiKey(call: { ctx: Context; input: CreateApiKeyInput }): Promise<NewApiKeyView> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "apiKey.create", { orgSlug: call.input.orgSlug });
  const input = parseInput(createApiKeySchema, call.input);
  const { key, hash, start } = newApiKey();
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx
      .insert(apikey)
      .values({
        id: newId(),
        name: input.name,
        start,
        hash,
        organizationId: organization.id,
        expiresAt: input.expiresInDays ? new Date(now.getTime() + input.expiresInDays * dayMs) : null,
        createdByUserId: ctx.actor.kind === "user" ? ctx.actor.userId : null,
        createdAt: now,
        updatedAt: now,
      })
      .returning();
    if (!row) throw new TowpathError("internal", "The key could not be created.");
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "apiKey.create",
      subject: row.id,
      detail: { name: input.name, start },
    });
    return { ...apiKeyView(ctx, row), key };
  });
}

/** The API keys of an organization, newest first, including revoked and expired ones (KEY-3). */
export async function listApiKeys(call: {
  ctx: Context;
  input: { readonly orgSlug: string };
}): Promise<readonly ApiKeyView[]> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "apiKey.read", { orgSlug: input.orgSlug });
  return (await listApiKeyRows(ctx.db, organization.id)).map((row) => apiKeyView(ctx, row));
}

/** Revokes a key immediately and permanently; it stays in the list (KEY-3). Idempotent. */
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

/** Deletes a key; it stops working immediately (KEY-3). */
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
 * A key may be ended by its creator, and by roles that manage all keys.
 *
 * @throws TowpathError `not_found` for a key that the organization doesn't have, `forbidden` for another member's key
 */
async function authorizeApiKey(
  ctx: Context,
  scope: { readonly orgSlug: string; readonly keyId: string },
): Promise<OrganizationAccess & { readonly key: ApiKeyRow }> {
  const access = await authorize(ctx, "apiKey.create", { orgSlug: scope.orgSlug });
  const key = await requireApiKey(ctx.db, access.organization.id, scope.keyId);
  const own = ctx.actor.kind === "user" && key.createdByUserId === ctx.actor.userId;
  if (own || roleMay(access.role, "apiKey.manage")) return { ...access, key };
  throw new TowpathError("forbidden", "Forbidden: only admins may revoke or delete another member's key.");
}
