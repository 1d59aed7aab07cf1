import type { Transaction } from "@towpath/db";
import { build, deployment, project, route } from "@towpath/db/schema";
import { and, eq, gt, lte, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { chooseLabel, lockLabels } from "../../projects/label/index.ts";
import { mcpUrl } from "../../projects/server-url/index.ts";
import { type BranchRow, enqueueReport, environmentOf, lockBranch } from "../branch/index.ts";
import type { BuildTimings } from "../build/build-contract.schema.ts";
import { auditedVersion, type BuildRow, ofAttempt, writeToBuildLog } from "../build/internal.ts";

export type GoLiveResult =
  | { readonly outcome: "live"; readonly url: string; readonly label: string }
  /**
   * The build succeeded but doesn't go live: a newer build of the branch was faster, or the branch has become or ceased
   * to be the default branch (BLD-11).
   */
  | { readonly outcome: "overtaken" }
  /** Meanwhile the branch was deleted or its pull request closed. */
  | { readonly outcome: "branch-ended" }
  /** Another worker has taken over the build; this one must stop. */
  | { readonly outcome: "lost" };

/**
 * Ends a build as succeeded and moves its branch's route to its deployment, after the caller has checked that the
 * server responds (BLD-10). The route only moves to higher sequences, and not at all if a newer build has succeeded, so
 * that the live commit never goes back (BLD-11). Writes the last line of the log; the caller must have written its own
 * before.
 */
export async function goLive(call: {
  ctx: Context;
  input: {
    readonly buildId: string;
    readonly attempt: number;
    /** Replaces the build's timings, to include the rollout. */
    readonly timings?: BuildTimings;
  };
}): Promise<GoLiveResult> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  return ctx.db.transaction(async (tx) => {
    const branchId = await branchOf(tx, input.buildId);
    if (!branchId) return { outcome: "lost" };
    const branch = await lockBranch(tx, branchId);
    await lockLabels(tx);
    const ended = await succeed(tx, ctx, input);
    if (!ended) return { outcome: "lost" };
    await enqueueReport(tx, ctx, branchId);
    const result = branch.endedAt ? { outcome: "branch-ended" as const } : await moveRoute(tx, ctx, ended, branch);
    await writeToBuildLog(tx, ended.id, ctx.clock.now(), { phase: "rollout", kind: "step", text: lastLine(result) });
    return result;
  });
}

function lastLine(result: GoLiveResult): string {
  if (result.outcome === "live") return `Live: ${result.url}`;
  return result.outcome === "overtaken"
    ? "Not live: a newer build of this branch finished first, or the repository's default branch changed during the build."
    : "Not live: the branch was deleted or its pull request closed during the build.";
}

async function branchOf(tx: Transaction, buildId: string): Promise<string | undefined> {
  const [row] = await tx.select({ branchId: build.branchId }).from(build).where(eq(build.id, buildId));
  return row?.branchId;
}

async function succeed(
  tx: Transaction,
  ctx: Context,
  input: { readonly buildId: string; readonly attempt: number; readonly timings?: BuildTimings },
): Promise<BuildRow | undefined> {
  const now = ctx.clock.now();
  const [row] = await tx
    .update(build)
    .set({
      status: "succeeded",
      diagnosis: null,
      endedAt: now,
      updatedAt: now,
      ...(input.timings && { timings: input.timings }),
    })
    .where(ofAttempt(input, "succeeded"))
    .returning();
  return row;
}

async function moveRoute(tx: Transaction, ctx: Context, ended: BuildRow, branch: BranchRow): Promise<GoLiveResult> {
  const newer = await tx.$count(
    build,
    and(eq(build.branchId, branch.id), eq(build.status, "succeeded"), gt(build.sequence, ended.sequence)),
  );
  if (newer > 0) return { outcome: "overtaken" };
  const [target] = await tx
    .select({ deployment, projectName: project.name, organizationId: project.organizationId })
    .from(deployment)
    .innerJoin(project, eq(project.id, deployment.projectId))
    .where(eq(deployment.buildId, ended.id));
  if (!target) throw new Error(`build ${ended.id} has no deployment to go live with`);
  // The branch has become or ceased to be the default one: the deployment has the wrong environment's secrets.
  if (target.deployment.environment !== environmentOf(branch)) return { outcome: "overtaken" };
  const label = await chooseLabel(tx, { projectId: ended.projectId, projectName: target.projectName, branch });
  const replaced = await branchOfLive(tx, branch.id);
  const values = {
    targetKind: "deployment" as const,
    deploymentId: target.deployment.id,
    sequence: ended.sequence,
    updatedAt: sql`now()`,
  };
  const moved = await tx
    .insert(route)
    .values({ label, projectId: ended.projectId, branchId: branch.id, ...values })
    .onConflictDoUpdate({
      target: route.branchId,
      set: values,
      setWhere: lte(route.sequence, ended.sequence),
    })
    .returning({ label: route.label });
  if (moved.length === 0) return { outcome: "overtaken" };
  if (replaced !== null && replaced !== branch.id) await enqueueReport(tx, ctx, replaced);
  // The label was taken after the deployment was created, so the route got another one.
  if (target.deployment.slug !== label)
    await tx.update(deployment).set({ slug: label }).where(eq(deployment.id, target.deployment.id));
  await audit(tx, ctx, {
    organizationId: target.organizationId,
    projectId: ended.projectId,
    action: "deployment.go-live",
    subject: target.deployment.id,
    detail: { build: ended.id, ...auditedVersion(ended), branch: branch.name, label },
  });
  return { outcome: "live", url: mcpUrl(ctx.serverUrlTemplate, label), label };
}

/** The branch whose build is live on a branch: another one, after the default branch has changed. */
async function branchOfLive(tx: Transaction, branchId: string): Promise<string | null> {
  const [live] = await tx
    .select({ branchId: deployment.branchId })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .where(eq(route.branchId, branchId));
  return live?.branchId ?? null;
}
