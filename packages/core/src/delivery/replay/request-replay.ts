import type { Transaction } from "@towpath/db";
import { callReplay, project } from "@towpath/db/schema";
import { and, eq, inArray, ne, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { checkSettingOf } from "../../projects/project/internal.ts";
import { type BranchRow, findFork } from "../branch/index.ts";
import type { BuildRow } from "../build/internal.ts";

/** Enqueues a replay's job, for when the transaction commits. */
export async function enqueueReplay(tx: Transaction, ctx: Context, replay: { id: string; projectId: string }) {
  const { id: replayId, projectId: group } = replay;
  await ctx.queue.enqueue("calls.replay", { replayId }, { key: replayId, group, transaction: tx });
}

/**
 * Has production's sampled calls replayed on a preview that has just gone live, and saved questions asked, if the project asks
 * for either (CAP-4). Each
 * commit of a branch is replayed once; a newer one takes the place of one that waits or runs. Nothing of a fork is:
 * production's data would reach the code of strangers. Under the lock of the branch.
 */
export async function requestReplay(
  tx: Transaction,
  ctx: Context,
  { build, branch }: { readonly build: BuildRow; readonly branch: BranchRow },
): Promise<void> {
  if (branch.isDefault) return;
  const [owner] = await tx.select().from(project).where(eq(project.id, build.projectId));
  if (!owner || checkSettingOf(owner) === null || (await findFork(tx, branch.id))) return;
  await tx
    .update(callReplay)
    .set({ state: "replaced", claimedUntil: null })
    .where(
      and(
        eq(callReplay.branchId, branch.id),
        ne(callReplay.commitSha, build.commitSha),
        inArray(callReplay.state, ["waiting", "running"]),
      ),
    );
  const { projectId, id: buildId, commitSha } = build;
  const [replay] = await tx
    .insert(callReplay)
    .values({
      id: newId(),
      projectId,
      branchId: branch.id,
      buildId,
      commitSha,
      state: "waiting",
      requestedAt: ctx.clock.now(),
    })
    .onConflictDoUpdate({
      target: [callReplay.branchId, callReplay.commitSha],
      set: {
        buildId,
        state: sql`CASE ${callReplay.state} WHEN 'replaced' THEN 'waiting' ELSE ${callReplay.state} END`,
      },
    })
    .returning();
  if (replay?.state === "waiting") await enqueueReplay(tx, ctx, replay);
}
