import type { Transaction } from "@towpath/db";
import { project, webhookDelivery } from "@towpath/db/schema";
import { and, asc, eq, isNull } from "drizzle-orm";
import { authorizePlatform } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { hintBranch } from "./hint-branch.ts";
import type { WebhookHint } from "./webhook.schema.ts";

export type ProcessWebhookInput = { readonly deliveryId: string; readonly hint: WebhookHint };

/**
 * Turns a delivery into jobs: each project of the repository gets its own job that asks GitHub, so that one project's
 * failure never holds up another. Decides nothing and doesn't ask GitHub. `hinted`: the number of branches marked.
 */
export async function processWebhook(call: {
  ctx: Context;
  input: ProcessWebhookInput;
}): Promise<{ readonly hinted: number }> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  return ctx.db.transaction(async (tx) => {
    const hinted = await passOn(tx, ctx, input.hint);
    await tx
      .update(webhookDelivery)
      // The id stays, so that a redelivery is known; nobody needs the payload any more (LOG-6).
      .set({ processedAt: ctx.clock.now(), payload: null })
      .where(and(eq(webhookDelivery.id, input.deliveryId), isNull(webhookDelivery.processedAt)));
    return { hinted };
  });
}

async function passOn(tx: Transaction, ctx: Context, hint: WebhookHint): Promise<number> {
  if (hint.kind === "ignored") return 0;
  if (hint.kind === "installation") {
    const { installationId } = hint;
    await ctx.queue.enqueue("installation.sync", { installationId }, { key: String(installationId), transaction: tx });
    return 0;
  }
  // By id: a repository can be renamed and keeps it.
  const projects = await tx
    .select()
    .from(project)
    .where(eq(project.repositoryId, hint.repositoryId))
    .orderBy(asc(project.createdAt), asc(project.id));
  let hinted = 0;
  for (const each of projects) {
    const target =
      hint.kind === "branch"
        ? { branch: hint.branch, mayBeNew: hint.mayBeNew }
        : { branch: each.defaultBranch, mayBeNew: true };
    if (await hintBranch(tx, ctx, { project: each, ...target })) hinted++;
  }
  return hinted;
}
