import type { Database, Transaction } from "@towpath/db";
import { build, deployment, gradualRelease, project, route } from "@towpath/db/schema";
import { and, desc, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { audit } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";
import { enqueueReport } from "../branch/index.ts";
import { auditedVersion, raiseFailedBuild, writeToBuildLog } from "../build/internal.ts";
import { type GradualReleaseView, releaseStateSchema } from "./gradual-release.schema.ts";

export type ReleaseRow = typeof gradualRelease.$inferSelect;

/** The first check follows soon: a version that fails at once must not wait for a round that has just been. */
export const checkEveryMs = 10_000;

export const isRunning = (branchId: string) =>
  and(eq(gradualRelease.branchId, branchId), eq(gradualRelease.state, "running"));

const stable = alias(deployment, "stable");
const stableBuild = alias(build, "stable_build");
const candidate = alias(deployment, "candidate");
const candidateBuild = alias(build, "candidate_build");

const stableColumns = {
  deploymentId: stable.id,
  buildId: stableBuild.id,
  commitSha: stableBuild.commitSha,
  commitMessage: stableBuild.commitMessage,
  packageVersion: stableBuild.packageVersion,
};
const candidateColumns = {
  deploymentId: candidate.id,
  buildId: candidateBuild.id,
  commitSha: candidateBuild.commitSha,
  commitMessage: candidateBuild.commitMessage,
  packageVersion: candidateBuild.packageVersion,
};

/** The newest release of a branch, running or ended; undefined for none. */
export async function newestRelease(
  db: Database | Transaction,
  branchId: string,
): Promise<GradualReleaseView | undefined> {
  const [row] = await db
    .select({ release: gradualRelease, stable: stableColumns, candidate: candidateColumns, live: route.deploymentId })
    .from(gradualRelease)
    .innerJoin(stable, eq(stable.id, gradualRelease.stableDeploymentId))
    .innerJoin(stableBuild, eq(stableBuild.id, stable.buildId))
    .innerJoin(candidate, eq(candidate.id, gradualRelease.candidateDeploymentId))
    .innerJoin(candidateBuild, eq(candidateBuild.id, candidate.buildId))
    .leftJoin(route, eq(route.branchId, gradualRelease.branchId))
    .where(eq(gradualRelease.branchId, branchId))
    .orderBy(desc(gradualRelease.startedAt), desc(gradualRelease.id))
    .limit(1);
  if (!row) return undefined;
  const { release } = row;
  return {
    id: release.id,
    state: releaseStateSchema.catch("stopped").parse(release.state),
    reason: release.reason,
    share: release.share,
    steps: release.steps,
    step: release.step,
    minutesPerStep: release.minutesPerStep,
    maxErrorPoints: release.maxErrorPoints,
    maxLatencyFactor: release.maxLatencyFactor,
    minCalls: release.minCalls,
    stable: row.stable,
    candidate: row.candidate,
    startedAt: release.startedAt.toISOString(),
    stepStartedAt: release.stepStartedAt.toISOString(),
    endedAt: release.endedAt?.toISOString() ?? null,
    revision: release.revision,
    isCurrent: [release.stableDeploymentId, release.candidateDeploymentId].some((id) => id === row.live),
  };
}

export type ReleaseEvent = {
  readonly action: "release.start" | "release.step" | "release.finish" | "release.go-back" | "release.stop";
  /** For the log of the new version's build. */
  readonly text: string;
};

/** Records a change of a release in the audit log and in the log of the new version's build, and has it reported. */
export async function recordEvent(
  tx: Transaction,
  ctx: Context,
  release: ReleaseRow,
  { action, text }: ReleaseEvent,
): Promise<void> {
  // The build's row first: its log takes one line at a time.
  const [of] = await tx
    .select({ build, organizationId: project.organizationId })
    .from(deployment)
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(project, eq(project.id, deployment.projectId))
    .where(eq(deployment.id, release.candidateDeploymentId))
    .for("no key update", { of: build });
  if (!of) return;
  const isWarning = action === "release.go-back" || action === "release.stop";
  const kind = isWarning ? "warning" : "step";
  await writeToBuildLog(tx, of.build.id, ctx.clock.now(), { phase: "rollout", kind, text });
  await enqueueReport(tx, ctx, release.branchId);
  // Whoever takes it back by hand knows.
  if (action === "release.go-back" && ctx.actor.kind === "job") {
    const diagnosis = { title: "its gradual release went back", remedy: release.reason ?? "" };
    await raiseFailedBuild(tx, ctx, { buildId: of.build.id, diagnosis });
  }
  await audit(tx, ctx, {
    organizationId: of.organizationId,
    projectId: release.projectId,
    action,
    subject: release.candidateDeploymentId,
    detail: {
      release: release.id,
      ...auditedVersion(of.build),
      share: release.share,
      ...(release.reason !== null && { reason: release.reason }),
    },
  });
}

type End = { readonly state: "finished" | "went-back" | "stopped"; readonly reason: string | null };

/** Ends a running release that the transaction has locked. The caller moves the route of one that has finished. */
export async function endRelease(
  tx: Transaction,
  ctx: Context,
  releaseId: string,
  { state, reason }: End,
): Promise<ReleaseRow | undefined> {
  const [ended] = await tx
    .update(gradualRelease)
    .set({
      state,
      reason,
      share: state === "finished" ? 100 : 0,
      endedAt: ctx.clock.now(),
      revision: sql`${gradualRelease.revision} + 1`,
    })
    .where(and(eq(gradualRelease.id, releaseId), eq(gradualRelease.state, "running")))
    .returning();
  return ended;
}
