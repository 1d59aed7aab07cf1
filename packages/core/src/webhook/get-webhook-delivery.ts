import { webhookDelivery } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";

/** A stored delivery for its job; null when it is gone. */
export async function getWebhookDelivery(call: { ctx: Context; input: { readonly deliveryId: string } }): Promise<{
  readonly event: string;
  readonly payload: unknown;
  readonly processed: boolean;
} | null> {
  authorizePlatform(call.ctx);
  const [row] = await call.ctx.db.select().from(webhookDelivery).where(eq(webhookDelivery.id, call.input.deliveryId));
  return row ? { event: row.event, payload: row.payload, processed: row.processedAt !== null } : null;
}
