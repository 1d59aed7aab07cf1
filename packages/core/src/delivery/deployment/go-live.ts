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
import { beginRelease, readPolicy, stopRelease } from "../gradual-release/internal.ts";
import { requestReplay } from "../replay/internal.ts";
import { keepUnapproved, waitForApproval } from "./approval.store.ts";

export type GoLiveResult =
  | { readonly outcome: "live"; readonly url: string; readonly label: string }
  /** It gets a share of the new sessions, in percent, in the first step of a gradual release. */
  | { readonly outcome: "releasing"; readonly url: string; readonly label: string; readonly share: number }
  /** It goes live once somebody of this role, or a higher one, has approved it. */
  | { readonly outcome: "waiting"; readonly approval: "admin" | "owner" }
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
 * that the live commit never goes back (BLD-11). Where the project's policy says so, it waits for an approval instead, or is
 * released gradually (CAP-8). A preview gets production's calls, if the project replays them (CAP-4). Writes the last line of the log; the caller must have written its own
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
    const result = await moveRoute(tx, ctx, ended, branch);
    if (result.outcome === "live") await requestReplay(tx, ctx, { build: ended, branch });
    await writeToBuildLog(tx, ended.id, ctx.clock.now(), { phase: "rollout", kind: "step", text: lastLine(result) });
    return result;
  });
}

function lastLine(result: GoLiveResult): string {
  if (result.outcome === "live") return `Live: ${result.url}`;
  if (result.outcome === "releasing") return `Released gradually: ${result.url}`;
  if (result.outcome === "waiting")
    return `Not live yet: ${result.approval === "owner" ? "an owner" : "an admin"} has to approve it.`;
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
  const policy = await readPolicy(tx, ended.projectId);
  // Of what is live, whose files were lost.
  const isRestored = ended.isGradual === false;
  const approval = isRestored ? "nobody" : policy.approval;
  const [target] = await tx
    .select({ deployment, projectName: project.name, organizationId: project.organizationId })
    .from(deployment)
    .innerJoin(project, eq(project.id, deployment.projectId))
    .where(eq(deployment.buildId, ended.id));
  if (!target) throw new Error(`build ${ended.id} has no deployment to go live with`);
  const outcome = branch.endedAt ? "branch-ended" : (await isOvertaken(tx, ended, branch, target)) ? "overtaken" : null;
  if (outcome !== null) {
    if (approval !== "nobody") await keepUnapproved(tx, ctx, target.deployment);
    return { outcome };
  }
  const isGradual = branch.isDefault && (ended.isGradual ?? policy.isGradual);
  if (branch.isDefault && approval !== "nobody") {
    await waitForApproval(tx, ctx, { ...target, build: ended, isGradual });
    return { outcome: "waiting", approval };
  }
  return putLive(tx, ctx, { ended, branch, target, isGradual });
}

async function isOvertaken(tx: Transaction, ended: BuildRow, branch: BranchRow, target: Target): Promise<boolean> {
  // The branch has become or ceased to be the default one: the deployment has the wrong environment's secrets.
  if (target.deployment.environment !== environmentOf(branch)) return true;
  const newer = and(eq(build.branchId, branch.id), eq(build.status, "succeeded"), gt(build.sequence, ended.sequence));
  return (await tx.$count(build, newer)) > 0;
}

export type Target = {
  readonly deployment: typeof deployment.$inferSelect;
  readonly projectName: string;
  readonly organizationId: string;
};

/**
 * Moves a branch's route to the deployment of one of its builds, or begins a gradual release of it; at once where that
 * isn't possible, which the build's log says. Under the locks of branch and labels.
 */
export async function putLive(
  tx: Transaction,
  ctx: Context,
  { ended, branch, target, isGradual }: { ended: BuildRow; branch: BranchRow; target: Target; isGradual: boolean },
): Promise<GoLiveResult> {
  const label = await chooseLabel(tx, { projectId: ended.projectId, projectName: target.projectName, branch });
  if (await isAhead(tx, branch.id, ended.sequence)) return { outcome: "overtaken" };
  if (isGradual) {
    const { release, problem } = await beginRelease(tx, ctx, { branch, deploymentId: target.deployment.id });
    const url = mcpUrl(ctx.serverUrlTemplate, label);
    if (release) return { outcome: "releasing", url, label, share: release.share };
    const text = `Live at once rather than gradually: ${problem}`;
    await writeToBuildLog(tx, ended.id, ctx.clock.now(), { phase: "rollout", kind: "warning", text });
  }
  const reason = "A newer version went live at once.";
  await stopRelease(tx, ctx, branch.id, { reason, live: target.deployment.id });
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

/** Whether a branch's route leads to a newer build. */
async function isAhead(tx: Transaction, branchId: string, sequence: number): Promise<boolean> {
  return (await tx.$count(route, and(eq(route.branchId, branchId), gt(route.sequence, sequence)))) > 0;
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
