import type { Transaction } from "@towpath/db";
import { build, deployment, gradualRelease, project, recordedAnswers, route } from "@towpath/db/schema";
import { eq, inArray, sql } from "drizzle-orm";
import { actingUserId } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import type { BranchRow } from "../branch/index.ts";
import { type ReleasePolicy, releaseSteps } from "./gradual-release.schema.ts";
import { checkEveryMs, endRelease, isRunning, type ReleaseRow, recordEvent } from "./release.store.ts";
import { readPolicy } from "./release-policy.ts";

type Candidate = { readonly branch: BranchRow; readonly deploymentId: string };

/** A release that began, or why there can't be one, as a sentence for people. */
export type Begun =
  | { readonly release: ReleaseRow; readonly problem: null }
  | { readonly release: null; readonly problem: string };

/**
 * Begins a gradual release of a deployment beside the one that its branch's route points to, under the lock of the branch.
 * One that runs is stopped: its version gets no new sessions any more, and its sessions go on for as long as its server
 * runs, as after a rollout.
 */
export async function beginRelease(tx: Transaction, ctx: Context, { branch, deploymentId }: Candidate): Promise<Begun> {
  const [live] = await tx
    .select({ deploymentId: route.deploymentId })
    .from(route)
    .where(eq(route.branchId, branch.id))
    .for("update");
  const stableId = live?.deploymentId ?? null;
  const versions = await versionsOf(tx, stableId === null ? [deploymentId] : [stableId, deploymentId]);
  const problem = problemOf(stableId, versions);
  if (problem !== null || stableId === null) return { release: null, problem: problem ?? nothingLive };
  await stopRelease(tx, ctx, branch.id, { reason: "A newer version took its place.", live: stableId });
  const policy = await readPolicy(tx, branch.projectId);
  const release = await insertRelease(tx, ctx, {
    branch,
    stableId,
    deploymentId,
    policy,
    hasSessions: versions.every((version) => version.hasSessions),
  });
  await recordEvent(tx, ctx, release, {
    action: "release.start",
    text: `Gets ${release.share} % of new sessions. The live version keeps the others, and those that are open.`,
  });
  return { release, problem: null };
}

/**
 * Ends the release that runs on a branch, if one does, under the branch's lock: as finished if its version is the one that
 * is `live` from now on. `reason`: a sentence for people.
 */
export async function stopRelease(
  tx: Transaction,
  ctx: Context,
  branchId: string,
  { reason, live }: { readonly reason: string; readonly live: string },
): Promise<void> {
  const [running] = await tx.select().from(gradualRelease).where(isRunning(branchId)).for("update");
  if (!running) return;
  const isFinished = running.candidateDeploymentId === live;
  const ended = await endRelease(
    tx,
    ctx,
    running.id,
    isFinished ? { state: "finished", reason: null } : { state: "stopped", reason },
  );
  if (!ended) return;
  await recordEvent(
    tx,
    ctx,
    ended,
    isFinished
      ? { action: "release.finish", text: "Live for all sessions." }
      : { action: "release.stop", text: `Gets no new sessions. ${reason}` },
  );
}

const nothingLive = "Nothing is live yet, so there is no other version for the rest of the sessions.";

type Version = Awaited<ReturnType<typeof versionsOf>>[number];

function problemOf(stableId: string | null, versions: readonly Version[]): string | null {
  if (stableId === null) return nothingLive;
  // Two processes would change the same files for hours.
  if (versions.some(({ keepsData }) => keepsData))
    return "The server keeps data in /data, which only one version may change.";
  // Its tokens may be known to one process only: callers would sign in again and again.
  if (versions.some(({ authMode, ownSignIn }) => authMode === "passthrough" && ownSignIn === true))
    return "The server has a sign-in of its own, whose tokens the other version might not know.";
  return null;
}

/** Of a server without a recording we assume sessions, which most have. */
function versionsOf(tx: Transaction, deploymentIds: readonly string[]) {
  return tx
    .select({
      keepsData: project.keepsData,
      authMode: project.authMode,
      ownSignIn: build.ownSignIn,
      hasSessions: sql<boolean>`${recordedAnswers.answers} IS NULL
        OR ${recordedAnswers.answers}::jsonb @? '$.conversations[*] ? (@.hasSession == true)'`,
    })
    .from(deployment)
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(project, eq(project.id, deployment.projectId))
    .leftJoin(recordedAnswers, eq(recordedAnswers.buildId, build.id))
    .where(inArray(deployment.id, [...deploymentIds]));
}

async function insertRelease(
  tx: Transaction,
  ctx: Context,
  of: Candidate & { readonly stableId: string; readonly policy: ReleasePolicy; readonly hasSessions: boolean },
): Promise<ReleaseRow> {
  const now = ctx.clock.now();
  const { minutesPerStep, maxErrorPoints, maxLatencyFactor, minCalls } = of.policy;
  const [row] = await tx
    .insert(gradualRelease)
    .values({
      id: newId(),
      projectId: of.branch.projectId,
      branchId: of.branch.id,
      stableDeploymentId: of.stableId,
      candidateDeploymentId: of.deploymentId,
      steps: [...releaseSteps],
      share: releaseSteps[0],
      minutesPerStep,
      maxErrorPoints,
      maxLatencyFactor,
      minCalls,
      hasSessions: of.hasSessions,
      startedAt: now,
      stepStartedAt: now,
      nextCheckAt: new Date(now.getTime() + checkEveryMs),
      startedByUserId: actingUserId(ctx),
    })
    .returning();
  if (!row) throw new Error("the release could not be stored");
  return row;
}
