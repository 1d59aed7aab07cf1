import type { Database, Transaction } from "@towpath/db";
import { apikey } from "@towpath/db/schema";
import { and, desc, eq } from "drizzle-orm";
import type { Context } from "../context/index.ts";
import { notFound } from "../errors/index.ts";
import { isId } from "../input/index.ts";

/** What may be shown of an API key after its creation (KEY-3). */
export type ApiKeyView = {
  readonly id: string;
  readonly name: string;
  /** The key's first characters, which help users tell keys apart. */
  readonly start: string;
  readonly status: "active" | "revoked" | "expired";
  readonly createdByUserId: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
};

/** `key` is shown this once; only its hash is stored. */
export type NewApiKeyView = ApiKeyView & { readonly key: string };

type Queryable = Database | Transaction;
export type ApiKeyRow = typeof apikey.$inferSelect;

export function listApiKeyRows(db: Queryable, organizationId: string) {
  return db
    .select()
    .from(apikey)
    .where(eq(apikey.organizationId, organizationId))
    .orderBy(desc(apikey.createdAt), desc(apikey.id));
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

export function apiKeyView(ctx: Context, row: ApiKeyRow): ApiKeyView {
  return {
    id: row.id,
    name: row.name ?? "",
    start: row.start ?? "",
    status: statusOf(ctx, row),
    createdByUserId: row.createdByUserId,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    lastUsedAt: row.lastRequest?.toISOString() ?? null,
  };
}

function statusOf(ctx: Context, row: ApiKeyRow): ApiKeyView["status"] {
  if (row.enabled === false) return "revoked";
  return row.expiresAt && row.expiresAt <= ctx.clock.now() ? "expired" : "active";
}
