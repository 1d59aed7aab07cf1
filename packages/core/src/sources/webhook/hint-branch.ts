import type { Transaction } from "@towpath/db";
import { branch, type project } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";

type Project = Pick<typeof project.$inferSelect, "id" | "organizationId" | "defaultBranch">;

/**
 * Marks a branch as possibly changed at its host and enqueues the job that checks it. When the job fails for good, the
 * sweep finds the mark. `mayBeNew`: creates an unknown branch; otherwise returns false for one.
 */
export async function hintBranch(
  tx: Transaction,
  ctx: Context,
  hint: { readonly project: Project; readonly branch: string; readonly mayBeNew: boolean },
): Promise<boolean> {
  const { id: projectId, organizationId, defaultBranch } = hint.project;
  if (hint.mayBeNew) {
    const isDefault = hint.branch === defaultBranch;
    await tx
      .insert(branch)
      .values({ id: newId(), projectId, name: hint.branch, isDefault, createdAt: ctx.clock.now() })
      .onConflictDoNothing({ target: [branch.projectId, branch.name] });
  }
  const marked = await tx
    .update(branch)
    .set({ hintedAt: sql`clock_timestamp()` })
    .where(and(eq(branch.projectId, projectId), eq(branch.name, hint.branch)))
    .returning({ id: branch.id });
  if (marked.length === 0) return false;
  await enqueueSync(ctx, { projectId, organizationId, branch: hint.branch }, tx);
  return true;
}

/**
 * Enqueues one job per branch, however many deliveries name it, in the group of its organization, so that one with many
 * branches or slow repositories doesn't delay the others.
 */
export function enqueueSync(
  ctx: Context,
  target: { readonly projectId: string; readonly organizationId: string; readonly branch: string },
  transaction?: Transaction,
): Promise<void> {
  const { organizationId: group, ...payload } = target;
  const key = `${payload.projectId}:${payload.branch}`;
  return ctx.queue.enqueue("branch.sync", payload, { key, group, ...(transaction && { transaction }) });
}
