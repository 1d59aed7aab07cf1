import type { Transaction } from "@towpath/db";
import { build, deployment, gradualRelease, route } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { lockBranch } from "../branch/index.ts";
import { endRelease, type ReleaseRow, recordEvent } from "./release.store.ts";

export type Move =
  | { readonly kind: "advance" }
  | { readonly kind: "finish" }
  /** `reason`: a sentence for people. */
  | { readonly kind: "back"; readonly reason: string };

const anotherIsLive = "Another version went live meanwhile.";

/**
 * Changes a running release: to its next step, to its end, or back. Does so at most once for each revision, whoever else
 * tries at the same time: null if it isn't that of `seen` any more, or doesn't run.
 */
export async function moveRelease(
  tx: Transaction,
  ctx: Context,
  seen: Pick<ReleaseRow, "id" | "branchId" | "revision">,
  move: Move,
): Promise<ReleaseRow | null> {
  await lockBranch(tx, seen.branchId);
  const [current] = await tx.select().from(gradualRelease).where(eq(gradualRelease.id, seen.id)).for("update");
  if (current?.state !== "running" || current.revision !== seen.revision) return null;
  if (!(await isStableLive(tx, current))) {
    const stopped = await endRelease(tx, ctx, current.id, { state: "stopped", reason: anotherIsLive });
    if (stopped) await recordEvent(tx, ctx, stopped, { action: "release.stop", text: anotherIsLive });
    return stopped ?? null;
  }
  if (move.kind === "back") return goBack(tx, ctx, current, move.reason);
  const next = current.steps[current.step + 1];
  if (move.kind === "finish" || next === undefined) return finish(tx, ctx, current);
  const [moved] = await tx
    .update(gradualRelease)
    .set({
      step: current.step + 1,
      share: next,
      stepStartedAt: ctx.clock.now(),
      revision: sql`${gradualRelease.revision} + 1`,
    })
    .where(eq(gradualRelease.id, current.id))
    .returning();
  if (moved) await recordEvent(tx, ctx, moved, { action: "release.step", text: `Gets ${next} % of new sessions.` });
  return moved ?? null;
}

async function isStableLive(tx: Transaction, { branchId, stableDeploymentId }: ReleaseRow): Promise<boolean> {
  const [found] = await tx
    .select({ label: route.label })
    .from(route)
    .where(and(eq(route.branchId, branchId), eq(route.deploymentId, stableDeploymentId)))
    .for("update");
  return found !== undefined;
}

async function goBack(tx: Transaction, ctx: Context, current: ReleaseRow, reason: string): Promise<ReleaseRow | null> {
  const ended = await endRelease(tx, ctx, current.id, { state: "went-back", reason });
  if (ended)
    await recordEvent(tx, ctx, ended, {
      action: "release.go-back",
      text: `Went back: ${reason} The version before serves all sessions.`,
    });
  return ended ?? null;
}

async function finish(tx: Transaction, ctx: Context, current: ReleaseRow): Promise<ReleaseRow | null> {
  const [of] = await tx
    .select({ branchId: build.branchId, sequence: build.sequence })
    .from(deployment)
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(eq(deployment.id, current.candidateDeploymentId));
  if (!of) return null;
  // Any build of another branch than its own may replace it.
  const sequence = of.branchId === current.branchId ? of.sequence : 0;
  const [moved] = await tx
    .update(route)
    .set({
      deploymentId: current.candidateDeploymentId,
      sequence: sql`greatest(${route.sequence}, ${sequence})`,
      updatedAt: sql`now()`,
    })
    .where(and(eq(route.branchId, current.branchId), eq(route.deploymentId, current.stableDeploymentId)))
    .returning({ label: route.label });
  if (!moved) return null;
  await tx.update(deployment).set({ slug: moved.label }).where(eq(deployment.id, current.candidateDeploymentId));
  const ended = await endRelease(tx, ctx, current.id, { state: "finished", reason: null });
  if (ended) await recordEvent(tx, ctx, ended, { action: "release.finish", text: "Live for all sessions." });
  return ended ?? null;
}
