import { apikey } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import type { Context } from "../context/index.ts";
import { authorizeApiKey } from "./authorize-api-key.ts";

/** Removes a key from the list; it stops working at once (KEY-3). */
export async function deleteApiKey(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly keyId: string };
}): Promise<{ readonly id: string }> {
  const { ctx, input } = call;
  const { organization, key } = await authorizeApiKey(ctx, input);
  await ctx.db.transaction(async (tx) => {
    await tx.delete(apikey).where(and(eq(apikey.referenceId, organization.id), eq(apikey.id, key.id)));
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "apiKey.delete",
      subject: key.id,
      detail: { name: key.name },
    });
  });
  return { id: key.id };
}
