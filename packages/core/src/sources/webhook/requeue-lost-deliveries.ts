import { branch, project, webhookDelivery } from "@towpath/db/schema";
import { and, eq, isNull, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { enqueueSync } from "./hint-branch.ts";

/** Chosen at random, so that those that always fail don't block others. */
const maxAtOnce = 100;

/**
 * Enqueues stored deliveries again that were received more than `olderThanMs` and less than a day ago and are not
 * processed: their jobs were lost or have failed for good (BLD-12).
 */
export async function requeueLostDeliveries({
  ctx,
  input,
}: Call<{ readonly olderThanMs: number }>): Promise<{ readonly requeued: readonly string[] }> {
  authorizePlatform(ctx);
  const lost = await ctx.db
    .select({ id: webhookDelivery.id })
    .from(webhookDelivery)
    .where(
      and(
        isNull(webhookDelivery.processedAt),
        sql`${webhookDelivery.receivedAt} BETWEEN now() - interval '1 day' AND now() - ${input.olderThanMs} * interval '1 millisecond'`,
      ),
    )
    .orderBy(sql`random()`)
    .limit(maxAtOnce);
  for (const { id } of lost) await ctx.queue.enqueue("webhook.process", { deliveryId: id }, { key: id });
  return { requeued: lost.map((row) => row.id) };
}

/**
 * The same for marked branches that have not been checked since, because GitHub was unavailable for longer than their
 * jobs were retried.
 */
export async function requeueLostHints({
  ctx,
  input,
}: Call<{ readonly olderThanMs: number }>): Promise<{ readonly requeued: readonly string[] }> {
  authorizePlatform(ctx);
  const lost = await ctx.db
    .select({
      id: branch.id,
      projectId: branch.projectId,
      organizationId: project.organizationId,
      branch: branch.name,
    })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .where(
      sql`${branch.hintedAt} BETWEEN now() - interval '1 day' AND now() - ${input.olderThanMs} * interval '1 millisecond'`,
    )
    .orderBy(sql`random()`)
    .limit(maxAtOnce);
  for (const { id: _id, ...target } of lost) await enqueueSync(ctx, target);
  return { requeued: lost.map((row) => row.id) };
}
