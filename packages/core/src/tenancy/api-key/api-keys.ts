import { newApiKey } from "@towpath/auth/credentials";
import type { Transaction } from "@towpath/db";
import { apikey } from "@towpath/db/schema";
import { and, eq, inArray, isNull, type SQL, sql } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { authorize, requireUser, roleMay } from "../../authorize/index.ts";
import type { Call, Context, OrganizationAccess } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { type CreateApiKeyInput, createApiKeySchema, personalKeysOfSchema } from "./api-key.schema.ts";
import {
  type ApiKeyRow,
  type ApiKeyView,
  listApiKeyViews,
  listServers,
  type NewApiKeyView,
  requireApiKey,
  requireApiKeyView,
} from "./api-key.store.ts";

const dayMs = 86_400_000;

/**
 * Creates an API key. Only this result contains the key itself (KEY-3). Who may call servers may create keys that act
 * as themselves; a key of the organization survives its creator's membership, so only roles that manage keys create one.
 *
 * @throws TowpathError `forbidden` for a lower role, and for a personal key of the operator; `invalid_input`
 */
export async function createApiKey(call: Call<CreateApiKeyInput>): Promise<NewApiKeyView> {
  const { ctx } = call;
  const { organization, role } = await authorize(ctx, "apiKey.create", { orgSlug: call.input.orgSlug });
  const input = parseInput(createApiKeySchema, call.input);
  if (input.kind === "organization" && !roleMay(role, "apiKey.manage"))
    throw keysAreManaged("create organization keys");
  const userId = input.kind === "personal" ? requireUser(ctx) : null;
  const expiresAt = input.expiresInDays ? new Date(ctx.clock.now().getTime() + input.expiresInDays * dayMs) : null;
  return ctx.db.transaction((tx) => insertApiKey(tx, ctx, organization, { ...input, userId, expiresAt }));
}

type NewKey = Pick<z.output<typeof createApiKeySchema>, "kind" | "scope" | "name" | "projectIds"> & {
  readonly userId: string | null;
  readonly expiresAt: Date | null;
};

/**
 * For verbs that have checked that the actor may create it.
 *
 * @throws TowpathError `invalid_input` for servers that the organization doesn't have
 */
export async function insertApiKey(
  tx: Transaction,
  ctx: Context,
  organization: { readonly id: string },
  input: NewKey,
): Promise<NewApiKeyView> {
  const { kind, scope, name, projectIds, userId, expiresAt } = input;
  const { key, hash, start } = newApiKey();
  const [id, now] = [newId(), ctx.clock.now()];
  const servers = projectIds && (await listServers(tx, organization.id, projectIds));
  if (servers && servers.length !== projectIds?.length) throw unknownServers();
  await tx.insert(apikey).values({
    id,
    name,
    start,
    hash,
    userId,
    projectIds,
    scope,
    expiresAt,
    organizationId: organization.id,
    createdByUserId: ctx.actor.kind === "user" ? ctx.actor.userId : null,
    createdAt: now,
    updatedAt: now,
  });
  const view = await requireApiKeyView(ctx, tx, { organizationId: organization.id, id });
  await audit(tx, ctx, {
    organizationId: organization.id,
    action: "apiKey.create",
    subject: id,
    detail: {
      name,
      start,
      kind,
      scope,
      servers: servers?.map((each) => each.name) ?? "all",
      expiresAt: view.expiresAt,
    },
  });
  return { ...view, key };
}

/** The organization's own keys, newest first, including revoked and expired ones (KEY-3). */
export async function listApiKeys({ ctx, input }: Call<{ readonly orgSlug: string }>): Promise<readonly ApiKeyView[]> {
  const { organization } = await authorize(ctx, "apiKey.read", { orgSlug: input.orgSlug });
  return listApiKeyViews(ctx, organization.id, { kind: "organization" });
}

/**
 * Personal keys for an organization, newest first (KEY-3): one's own, also for a role that can't create any, or those of
 * all members.
 *
 * @throws TowpathError `forbidden` for those of others without the permission `apiKey.manage`
 */
export async function listPersonalApiKeys(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly of?: z.input<typeof personalKeysOfSchema> };
}): Promise<readonly ApiKeyView[]> {
  const { ctx } = call;
  const of = parseInput(personalKeysOfSchema, call.input.of);
  const permission = of === "everyone" ? "apiKey.manage" : "organization.read";
  const { organization } = await authorize(ctx, permission, { orgSlug: call.input.orgSlug });
  const filter = of === "everyone" ? {} : { userId: requireUser(ctx) };
  return listApiKeyViews(ctx, organization.id, { kind: "personal", ...filter });
}

type KeyInput = { readonly orgSlug: string; readonly keyId: string };

/** Revokes a key immediately and permanently; it stays in the list (KEY-3). Idempotent. */
export async function revokeApiKey({ ctx, input }: Call<KeyInput>): Promise<ApiKeyView> {
  const { organization, key } = await authorizeApiKey(ctx, input);
  return ctx.db.transaction(async (tx) => {
    const revoked = await revokeKeys(tx, ctx, organization.id, eq(apikey.id, key.id));
    if (revoked.length === 0) throw notFound("API key");
    return requireApiKeyView(ctx, tx, { organizationId: organization.id, id: key.id });
  });
}

/**
 * Revokes keys of the organization that somebody created, who may have kept them (KEY-3, ORG-6).
 *
 * @throws TowpathError `invalid_input` for a key that isn't one of these
 */
export async function revokeKeysOfCreator(
  tx: Transaction,
  ctx: Context,
  input: { readonly organizationId: string; readonly userId: string; readonly keys: "all" | readonly string[] },
): Promise<void> {
  const { organizationId, userId, keys } = input;
  const created = and(eq(apikey.createdByUserId, userId), isNull(apikey.userId));
  if (keys === "all") {
    await revokeKeys(tx, ctx, organizationId, and(created, sql`${apikey.enabled} IS NOT FALSE`));
    return;
  }
  const ids = [...new Set(keys)];
  if (ids.length === 0) return;
  const revoked = await revokeKeys(tx, ctx, organizationId, and(created, inArray(apikey.id, ids)));
  if (revoked.length !== ids.length)
    throw new TowpathError("invalid_input", "One of the keys was not created by this member. Reload the page.", {
      fields: { revokeKeys: "One of these keys was not created by this member" },
    });
}

async function revokeKeys(tx: Transaction, ctx: Context, organizationId: string, condition: SQL | undefined) {
  const revoked = await tx
    .update(apikey)
    .set({ enabled: false, updatedAt: ctx.clock.now() })
    .where(and(eq(apikey.organizationId, organizationId), condition))
    .returning({ id: apikey.id, name: apikey.name });
  for (const { id: subject, name } of revoked)
    await audit(tx, ctx, { organizationId, action: "apiKey.revoke", subject, detail: { name } });
  return revoked;
}

/** Deletes a key; it stops working immediately (KEY-3). */
export async function deleteApiKey({ ctx, input }: Call<KeyInput>): Promise<{ readonly id: string }> {
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
 * A key may be ended by the person it acts as, by its creator, in any role, and by roles that manage keys.
 *
 * @throws TowpathError `not_found` for a key that the organization doesn't have and for another member's personal key,
 * which only roles that manage keys can see; `forbidden` for a key of the organization
 */
async function authorizeApiKey(
  ctx: Context,
  input: KeyInput,
): Promise<OrganizationAccess & { readonly key: ApiKeyRow }> {
  const access = await authorize(ctx, "organization.read", { orgSlug: input.orgSlug });
  const key = await requireApiKey(ctx.db, access.organization.id, input.keyId);
  const own = ctx.actor.kind === "user" && [key.userId, key.createdByUserId].includes(ctx.actor.userId);
  if (own || roleMay(access.role, "apiKey.manage")) return { ...access, key };
  throw key.userId === null ? keysAreManaged("revoke or delete organization keys") : notFound("API key");
}

const keysAreManaged = (what: string) => new TowpathError("forbidden", `Forbidden: only admins may ${what}.`);

const unknownServers = () =>
  new TowpathError("invalid_input", "One of the servers does not exist. Reload the page and choose again.", {
    fields: { projectIds: "One of these servers does not exist" },
  });
