import { project, webhookDelivery } from "@towpath/db/schema";
import { and, asc, eq, isNull } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { hintBranch } from "./hint-branch.ts";
import type { WebhookHint } from "./webhook.schema.ts";

export type ProcessWebhookInput = { readonly deliveryId: string; readonly hint: WebhookHint };

/**
 * Turns a delivery into jobs: each project of the repository gets its own job that asks GitHub. Decides nothing and
 * doesn't ask GitHub. Each project is marked in a transaction of its own, so that a repository with many projects holds
 * few locks, and one project's failure never holds up another. `hinted`: the number of branches marked.
 *
 * Idempotent: a delivery counts as processed once every project is marked.
 *
 * @throws AggregateError when some projects could not be marked; the others are.
 */
export async function processWebhook(call: {
  ctx: Context;
  input: ProcessWebhookInput;
}): Promise<{ readonly hinted: number }> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const hinted = await passOn(ctx, input.hint);
  await ctx.db
    .update(webhookDelivery)
    // The id stays, so that a redelivery is known; nobody needs the payload any more (LOG-6).
    .set({ processedAt: ctx.clock.now(), payload: null })
    .where(and(eq(webhookDelivery.id, input.deliveryId), isNull(webhookDelivery.processedAt)));
  return { hinted };
}

async function passOn(ctx: Context, hint: WebhookHint): Promise<number> {
  if (hint.kind === "ignored") return 0;
  if (hint.kind === "installation") {
    const { installationId } = hint;
    await ctx.queue.enqueue("installation.sync", { installationId }, { key: String(installationId) });
    return 0;
  }
  // By id: a repository can be renamed and keeps it.
  const projects = await ctx.db
    .select()
    .from(project)
    .where(eq(project.repositoryId, hint.repositoryId))
    .orderBy(asc(project.createdAt), asc(project.id));
  const failures: unknown[] = [];
  let hinted = 0;
  for (const each of projects) {
    const target =
      hint.kind === "branch"
        ? { branch: hint.branch, mayBeNew: hint.mayBeNew }
        : { branch: each.defaultBranch, mayBeNew: true };
    try {
      if (await ctx.db.transaction((tx) => hintBranch(tx, ctx, { project: each, ...target }))) hinted++;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) {
    throw new AggregateError(failures, `${failures.length} of ${projects.length} projects could not be marked`);
  }
  return hinted;
}
