import { webhookDelivery } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { parseInput } from "../input/index.ts";
import { type ReceiveWebhookInput, receiveWebhookSchema } from "./webhook.schema.ts";

/**
 * Stores a delivery whose signature the caller has checked, and enqueues its processing (BLD-12). A delivery id that
 * is known already is stored once; it is enqueued again only as long as it has not been processed. The actor is the
 * platform: `{ kind: "job", job: "webhook.receive" }`.
 */
export async function receiveWebhook(call: {
  ctx: Context;
  input: ReceiveWebhookInput;
}): Promise<{ readonly duplicate: boolean }> {
  const { ctx } = call;
  authorizePlatform(ctx);
  const input = parseInput(receiveWebhookSchema, call.input);
  return ctx.db.transaction(async (tx) => {
    const inserted = await tx
      .insert(webhookDelivery)
      .values({ id: input.deliveryId, event: input.event, payload: input.payload, receivedAt: ctx.clock.now() })
      .onConflictDoNothing()
      .returning({ id: webhookDelivery.id });
    const [stored] = await tx
      .select({ processedAt: webhookDelivery.processedAt })
      .from(webhookDelivery)
      .where(eq(webhookDelivery.id, input.deliveryId));
    const job = { deliveryId: input.deliveryId };
    if (!stored?.processedAt) {
      await ctx.queue.enqueue("webhook.process", job, { key: input.deliveryId, transaction: tx });
    }
    return { duplicate: inserted.length === 0 };
  });
}

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
