import { webhookDelivery } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { z } from "zod";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";

const receiveWebhookSchema = z.object({
  /** X-GitHub-Delivery */
  deliveryId: z.string().regex(/^[\w-]{1,100}$/, "The delivery id is invalid"),
  /** Number of the connection whose secret signed it; 0: the environment's. */
  connection: z.number().int().min(0).default(0),
  /** X-GitHub-Event */
  event: z.string().regex(/^\w{1,100}$/, "The event name is invalid"),
  payload: z.record(z.string(), z.unknown()),
});
type ReceiveWebhookInput = z.input<typeof receiveWebhookSchema>;

/**
 * Stores a delivery whose signature the caller has checked, and enqueues its processing (BLD-12). A known delivery is
 * not stored again, and enqueued again only if it hasn't been processed. The actor is `{ kind: "job", job:
 * "webhook.receive" }`.
 */
export async function receiveWebhook(call: Call<ReceiveWebhookInput>): Promise<{ readonly duplicate: boolean }> {
  const { ctx } = call;
  authorizePlatform(ctx);
  const input = parseInput(receiveWebhookSchema, call.input);
  return ctx.db.transaction(async (tx) => {
    const inserted = await tx
      .insert(webhookDelivery)
      .values({
        id: input.deliveryId,
        connection: input.connection,
        event: input.event,
        payload: input.payload,
        receivedAt: ctx.clock.now(),
      })
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

/** A stored delivery; null when it was removed. */
export async function getWebhookDelivery(call: { ctx: Context; input: { readonly deliveryId: string } }): Promise<{
  readonly connection: number;
  readonly event: string;
  readonly payload: unknown;
  readonly processed: boolean;
} | null> {
  authorizePlatform(call.ctx);
  const [row] = await call.ctx.db.select().from(webhookDelivery).where(eq(webhookDelivery.id, call.input.deliveryId));
  if (!row) return null;
  const { connection, event, payload, processedAt } = row;
  return { connection, event, payload, processed: processedAt !== null };
}
