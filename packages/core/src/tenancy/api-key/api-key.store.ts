import type { Database, Transaction } from "@towpath/db";
import { apikey, project, user } from "@towpath/db/schema";
import { and, asc, desc, eq, inArray, isNotNull, isNull, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { z } from "zod";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { apiKeyKindSchema, apiKeyScopeSchema } from "./api-key.schema.ts";

export const personSchema = z.object({ id: z.string(), name: z.string(), email: z.string() });

/** What may be shown of an API key after its creation (KEY-3). */
export const apiKeyViewSchema = z.object({
  id: z.uuid(),
  kind: apiKeyKindSchema,
  scope: apiKeyScopeSchema,
  name: z.string(),
  start: z.string().describe("its first characters"),
  status: z.enum(["active", "revoked", "expired"]),
  /** As whom a personal key acts. */
  owner: personSchema.nullable().describe("of a personal key"),
  /** Null when a person's account was deleted, and for keys that the operator created. */
  createdBy: personSchema.nullable(),
  /** The servers that it may call or manage, by name. Empty when all of them were deleted. */
  servers: z
    .array(z.object({ id: z.uuid(), name: z.string() }))
    .readonly()
    .nullable()
    .describe("null: all of the organization"),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable(),
});
export type ApiKeyView = z.infer<typeof apiKeyViewSchema>;

/** Only the key's hash is stored. */
export const newApiKeySchema = apiKeyViewSchema.extend({ key: z.string().describe("shown this once") });
export type NewApiKeyView = z.infer<typeof newApiKeySchema>;

type Queryable = Database | Transaction;
export type ApiKeyRow = typeof apikey.$inferSelect;

/** Whose keys a list holds. */
export type ApiKeyFilter = { readonly kind: "organization" } | { readonly kind: "personal"; readonly userId?: string };

/** The keys of an organization, newest first, including revoked and expired ones. */
export function listApiKeyViews(ctx: Context, organizationId: string, filter: ApiKeyFilter): Promise<ApiKeyView[]> {
  if (filter.kind === "organization") return apiKeyViews(ctx, ctx.db, organizationId, isNull(apikey.userId));
  const { userId } = filter;
  return apiKeyViews(ctx, ctx.db, organizationId, userId ? eq(apikey.userId, userId) : isNotNull(apikey.userId));
}

/** @throws TowpathError `not_found`, also for keys of other organizations */
export async function requireApiKey(db: Queryable, organizationId: string, keyId: string): Promise<ApiKeyRow> {
  const [row] = isId(keyId)
    ? await db
        .select()
        .from(apikey)
        .where(and(eq(apikey.organizationId, organizationId), eq(apikey.id, keyId)))
    : [];
  if (!row) throw notFound("API key");
  return row;
}

/** @throws TowpathError `not_found` */
export async function requireApiKeyView(
  ctx: Context,
  db: Queryable,
  { organizationId, id }: { readonly organizationId: string; readonly id: string },
): Promise<ApiKeyView> {
  const [view] = await apiKeyViews(ctx, db, organizationId, eq(apikey.id, id));
  if (!view) throw notFound("API key");
  return view;
}

async function apiKeyViews(ctx: Context, db: Queryable, organizationId: string, condition: SQL): Promise<ApiKeyView[]> {
  const [owner, creator] = [alias(user, "owner"), alias(user, "creator")];
  const rows = await db
    .select({
      key: apikey,
      owner: { id: owner.id, name: owner.name, email: owner.email },
      createdBy: { id: creator.id, name: creator.name, email: creator.email },
    })
    .from(apikey)
    .leftJoin(owner, eq(owner.id, apikey.userId))
    .leftJoin(creator, eq(creator.id, apikey.createdByUserId))
    .where(and(eq(apikey.organizationId, organizationId), condition))
    .orderBy(desc(apikey.createdAt), desc(apikey.id));
  const servers = await listServers(db, organizationId, [...new Set(rows.flatMap(({ key }) => key.projectIds ?? []))]);
  return rows.map(({ key, ...people }) => ({
    id: key.id,
    kind: key.userId === null ? "organization" : "personal",
    // A scope that a later version wrote gives no more than calling.
    scope: key.scope === "manage" ? "manage" : "call",
    name: key.name ?? "",
    start: key.start ?? "",
    status: statusOf(ctx, key),
    ...people,
    servers: key.projectIds && servers.filter(({ id }) => key.projectIds?.includes(id)),
    createdAt: key.createdAt.toISOString(),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    lastUsedAt: key.lastRequest?.toISOString() ?? null,
  }));
}

/** Those projects of the organization that have one of these ids, by name. */
export async function listServers(db: Queryable, organizationId: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return db
    .select({ id: project.id, name: project.name })
    .from(project)
    .where(and(eq(project.organizationId, organizationId), inArray(project.id, [...ids])))
    .orderBy(asc(project.name));
}

function statusOf(ctx: Context, row: ApiKeyRow): ApiKeyView["status"] {
  if (row.enabled === false) return "revoked";
  return row.expiresAt && row.expiresAt <= ctx.clock.now() ? "expired" : "active";
}
