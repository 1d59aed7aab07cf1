import { webhookDelivery } from "@towpath/db/schema";
import { inArray } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";

/** Which of these deliveries, by X-GitHub-Delivery, have never arrived. */
export async function unknownDeliveries(call: Call<{ readonly ids: readonly string[] }>): Promise<readonly string[]> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const ids = [...new Set(input.ids)];
  if (ids.length === 0) return [];
  const rows = await ctx.db
    .select({ id: webhookDelivery.id })
    .from(webhookDelivery)
    .where(inArray(webhookDelivery.id, ids));
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}
