import { gradualRelease } from "@towpath/db/schema";
import { and, asc, eq, lte } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import type { ReleaseFigures } from "./gradual-release.schema.ts";
import { judge } from "./judge.ts";
import { moveRelease } from "./move-release.ts";
import { checkEveryMs, type ReleaseRow } from "./release.store.ts";

/** The calls of both versions of a release since `from`. */
export type ReadReleaseFigures = (
  of: Pick<ReleaseRow, "projectId" | "stableDeploymentId" | "candidateDeploymentId"> & { readonly from: Date },
) => Promise<ReleaseFigures>;

/**
 * Judges running releases whose check is due, a few in a round, and moves them on or back; for the worker. Workers take
 * different ones, and a change that another has made since the figures were read is not made again.
 *
 * @returns how many were due
 */
export async function judgeDueReleases({
  ctx,
  input,
}: {
  ctx: Context;
  input: { readonly limit: number; readonly readFigures: ReadReleaseFigures };
}): Promise<number> {
  authorizePlatform(ctx);
  const due = await claimDue(ctx, input.limit);
  const judged = await Promise.allSettled(due.map((release) => judgeRelease(ctx, release, input.readFigures)));
  // The others have been judged; this one is due again soon.
  const failed = judged.find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
  return due.length;
}

function claimDue(ctx: Context, limit: number): Promise<readonly ReleaseRow[]> {
  return ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    const rows = await tx
      .select()
      .from(gradualRelease)
      .where(and(eq(gradualRelease.state, "running"), lte(gradualRelease.nextCheckAt, now)))
      .orderBy(asc(gradualRelease.nextCheckAt))
      .limit(limit)
      .for("update", { skipLocked: true });
    const nextCheckAt = new Date(now.getTime() + checkEveryMs);
    for (const { id } of rows) await tx.update(gradualRelease).set({ nextCheckAt }).where(eq(gradualRelease.id, id));
    return rows;
  });
}

async function judgeRelease(ctx: Context, release: ReleaseRow, readFigures: ReadReleaseFigures): Promise<void> {
  const figures = await readFigures({ ...release, from: release.stepStartedAt });
  const verdict = judge(release, figures, ctx.clock.now().getTime() - release.stepStartedAt.getTime());
  if (verdict.kind === "wait") return;
  await ctx.db.transaction((tx) => moveRelease(tx, ctx, release, verdict));
}
