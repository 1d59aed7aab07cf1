import { apikey } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import type { Context } from "../context/index.ts";
import { notFound } from "../errors/index.ts";
import { apiKeyView } from "./api-key.store.ts";
import type { ApiKeyView } from "./api-key.view.ts";
import { authorizeApiKey } from "./authorize-api-key.ts";

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
      .where(and(eq(apikey.referenceId, organization.id), eq(apikey.id, key.id)))
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
