import type { Transaction } from "@towpath/db";
import type { Context } from "../context/index.ts";

/**
 * Enqueues the job that tells GitHub how a branch and its builds are (BLD-8), for when the transaction commits. Whatever
 * changes the status of a build, what is live, or what a head waits for, calls it.
 */
export function enqueueReport(tx: Transaction, ctx: Context, branchId: string): Promise<void> {
  return ctx.queue.enqueue("branch.report", { branchId }, { key: branchId, transaction: tx });
}
