import { project, webhookDelivery } from "@towpath/db/schema";
import { and, asc, eq, isNull } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { recordWebhook } from "../github-check/internal.ts";
import { hintBranch } from "./hint-branch.ts";

/**
 * What a delivery is about, derived from GitHub's payload. It says what to check, never its state, because deliveries
 * come late, twice and out of order (decision 007).
 */
export type WebhookHint =
  | {
      /** A branch was pushed or deleted, or a pull request from it changed. */
      readonly kind: "branch";
      readonly repositoryId: number;
      readonly branch: string;
      /** Whether the branch may be new to Towpath. */
      readonly mayBeNew: boolean;
    }
  /** A repository was renamed or transferred, or has another default branch. */
  | { readonly kind: "repository"; readonly repositoryId: number }
  /** An installation was removed, suspended or resumed, or its repositories changed. */
  | { readonly kind: "installation"; readonly installationId: number }
  | { readonly kind: "ignored" };

export type ProcessWebhookInput = { readonly deliveryId: string; readonly hint: WebhookHint };

/**
 * Turns a delivery into jobs that check GitHub, one for each project of the repository. Marks each project in a
 * transaction of its own, so that a repository with many projects holds few locks, and a failure of one doesn't affect
 * the others. `hinted`: the number of branches marked. Idempotent: a delivery is processed when every project is
 * marked.
 *
 * @throws AggregateError when some projects could not be marked; the others are
 */
export async function processWebhook({ ctx, input }: Call<ProcessWebhookInput>): Promise<{ readonly hinted: number }> {
  authorizePlatform(ctx);
  const hinted = await passOn(ctx, input.hint);
  await ctx.db
    .update(webhookDelivery)
    // Keep the id, to recognize a redelivery, but not the payload (LOG-6).
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
  await recordWebhook(ctx, hint.repositoryId);
  // By id, which stays when a repository is renamed.
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
