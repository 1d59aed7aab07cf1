export { activeDeployments, enqueueLeaving, headCheckId, headCheckPrefix } from "./enqueue-leaving.ts";
export { enqueueReport } from "./enqueue-report.ts";
export { findFork, forkBranchName, pullRequestOfForkBranch } from "./fork-branch.ts";

import type { Transaction } from "@towpath/db";
import { branch } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";

export type BranchRow = typeof branch.$inferSelect;

/**
 * Locks a branch's row until the transaction ends. Every decision about the next build takes this lock first, so that
 * sequence numbers follow the order of decisions (BLD-11). `NO KEY UPDATE` doesn't block inserts of rows that refer
 * to the branch, which happen in transactions that hold the lock on labels.
 */
export async function lockBranch(tx: Transaction, branchId: string): Promise<BranchRow> {
  const [row] = await tx.select().from(branch).where(eq(branch.id, branchId)).for("no key update");
  if (!row) throw notFound("branch");
  return row;
}

/** The branch of that name, created if necessary and locked as by `lockBranch`. */
export async function ensureBranch(
  tx: Transaction,
  ctx: Context,
  target: { readonly projectId: string; readonly name: string; readonly isDefault: boolean },
): Promise<BranchRow> {
  await tx
    .insert(branch)
    .values({ ...target, id: newId(), createdAt: ctx.clock.now() })
    .onConflictDoNothing({ target: [branch.projectId, branch.name] });
  const [row] = await tx
    .select()
    .from(branch)
    .where(and(eq(branch.projectId, target.projectId), eq(branch.name, target.name)))
    .for("no key update");
  if (!row) throw notFound("branch");
  return row;
}

/** The environment of a branch's builds, which determines their secrets. */
export const environmentOf = (branch: { readonly isDefault: boolean }) =>
  branch.isDefault ? ("production" as const) : ("preview" as const);
