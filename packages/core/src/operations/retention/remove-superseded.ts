import type { Transaction } from "@towpath/db";
import { branch, build, deployment, gradualRelease, instance, route } from "@towpath/db/schema";
import { and, eq, gt, inArray, isNotNull, isNull, lt, ne, notExists, notInArray, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { lockBranch } from "../../delivery/branch/index.ts";
import { mergeRemovals, type Removal, runParts, type SweepInput } from "./sweep-parts.ts";

const maxBranches = 100;
const endedStatuses = ["succeeded", "failed", "canceled"];
const runningStates = ["starting", "ready", "frozen"];
/** What started earlier may be the row of a host that is gone. */
const maxRunningDays = 7;

/**
 * Removes deployments and builds beyond the latest of each branch, and branches that ended a while ago with all their
 * builds unless one of them is live. Keeps deployments of any age that are live or being released, those whose server still runs, because sessions and
 * streams end with it, and builds that have a deployment or have not ended. Other sweeps then remove their logs (`eraseLogs`) and layers.
 */
export async function removeSuperseded({ ctx, input }: Call<SweepInput>): Promise<Removal> {
  authorizePlatform(ctx);
  const ended = await endedBranches(ctx, input);
  const parts = [
    ...ended.map((id) => ({ name: "branch", run: () => ctx.db.transaction((tx) => removeBranch(tx, input, id)) })),
    ...(await crowdedBranches(ctx, input)).flatMap((id) => [
      { name: "deployment", run: () => ctx.db.transaction((tx) => trimDeployments(tx, input, id)) },
      { name: "build", run: () => ctx.db.transaction((tx) => trimBuilds(tx, input, id)) },
    ]),
  ];
  return runParts(input, parts);
}

const endedBefore = ({ now, policy }: SweepInput) => new Date(now.getTime() - policy.endedBranchDays * 86_400_000);

/** In random order, so that branches that can't be removed don't block others. */
async function endedBranches(ctx: Context, input: SweepInput): Promise<readonly string[]> {
  const rows = await ctx.db
    .select({ id: branch.id })
    .from(branch)
    .where(and(lt(branch.endedAt, endedBefore(input)), isNull(branch.hintedAt), eq(branch.isDefault, false)))
    .orderBy(sql`random()`)
    .limit(maxBranches);
  return rows.map((row) => row.id);
}

async function crowdedBranches(ctx: Context, { policy }: SweepInput): Promise<readonly string[]> {
  const { rows } = await ctx.db.execute<{ id: string }>(
    sql`SELECT id FROM (
        SELECT branch_id AS id FROM ${deployment} GROUP BY branch_id HAVING count(*) > ${policy.deploymentsPerBranch}
        UNION SELECT branch_id FROM ${build} GROUP BY branch_id HAVING count(*) > ${policy.buildsPerBranch}
      ) crowded ORDER BY random() LIMIT ${maxBranches}`,
  );
  return rows.map((row) => row.id);
}

/** Checks again under the branch's lock: a push may have reopened it. */
async function removeBranch(tx: Transaction, input: SweepInput, branchId: string): Promise<number> {
  const found = await lockBranch(tx, branchId);
  if (found.isDefault || found.hintedAt || !found.endedAt || found.endedAt >= endedBefore(input)) return 0;
  const busy = await tx.$count(build, and(eq(build.branchId, branchId), notInArray(build.status, endedStatuses)));
  if (busy > 0) return 0;
  // In production: the branch was production's, until the server got another source or default branch, from which nothing
  // has gone live yet.
  const live = await tx
    .select({ label: route.label })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .where(and(eq(deployment.branchId, branchId), ne(route.branchId, branchId)))
    .limit(1);
  if (live.length > 0) return 0;
  return (await tx.delete(branch).where(eq(branch.id, branchId))).rowCount ?? 0;
}

async function trimDeployments(tx: Transaction, { policy, now }: SweepInput, branchId: string): Promise<number> {
  await lockBranch(tx, branchId);
  const latest = tx
    .select({ id: deployment.id })
    .from(deployment)
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(eq(deployment.branchId, branchId))
    .orderBy(sql`${build.sequence} DESC`)
    .limit(policy.deploymentsPerBranch);
  const finished = tx
    .select({ id: build.id })
    .from(build)
    .where(and(eq(build.branchId, branchId), inArray(build.status, endedStatuses)));
  const running = and(
    eq(instance.deploymentId, deployment.id),
    inArray(instance.state, runningStates),
    gt(instance.startedAt, new Date(now.getTime() - maxRunningDays * 86_400_000)),
  );
  const releasing = and(eq(gradualRelease.candidateDeploymentId, deployment.id), eq(gradualRelease.state, "running"));
  const removed = await tx
    .delete(deployment)
    .where(
      and(
        eq(deployment.branchId, branchId),
        notInArray(deployment.id, latest),
        inArray(deployment.buildId, finished),
        notExists(tx.select().from(route).where(eq(route.deploymentId, deployment.id))),
        notExists(tx.select().from(gradualRelease).where(releasing)),
        notExists(tx.select().from(instance).where(running)),
      ),
    );
  return removed.rowCount ?? 0;
}

async function trimBuilds(tx: Transaction, { policy }: SweepInput, branchId: string): Promise<number> {
  await lockBranch(tx, branchId);
  const latest = tx
    .select({ id: build.id })
    .from(build)
    .where(eq(build.branchId, branchId))
    .orderBy(sql`${build.sequence} DESC`)
    .limit(policy.buildsPerBranch);
  const removed = await tx
    .delete(build)
    .where(
      and(
        eq(build.branchId, branchId),
        inArray(build.status, endedStatuses),
        notInArray(build.id, latest),
        notExists(tx.select().from(deployment).where(eq(deployment.buildId, build.id))),
      ),
    );
  return removed.rowCount ?? 0;
}

const buildsAtOnce = 20;
const maxRounds = 10;

/** Removes the logs of builds that ended before the cutoff, but keeps the builds. */
export async function removeBuildLogs({ ctx, input }: Call<SweepInput>): Promise<Removal> {
  authorizePlatform(ctx);
  const before = new Date(input.now.getTime() - input.policy.buildLogDays * 86_400_000);
  const removals: Removal[] = [];
  for (let round = 0; round < maxRounds && !input.signal?.aborted; round++) {
    const old = await ctx.db
      .select({ id: build.id })
      .from(build)
      .where(
        and(
          isNotNull(build.endedAt),
          lt(build.endedAt, before),
          sql`EXISTS (SELECT 1 FROM build_log WHERE build_id = ${build.id})`,
        ),
      )
      .orderBy(sql`random()`)
      .limit(buildsAtOnce);
    removals.push(
      await runParts(
        input,
        old.map(({ id }) => ({ name: "build_log", run: () => removeLogOf(ctx, id) })),
      ),
    );
    if (old.length < buildsAtOnce) break;
  }
  return mergeRemovals(removals);
}

async function removeLogOf(ctx: Context, buildId: string): Promise<number> {
  return (await ctx.db.execute(sql`DELETE FROM build_log WHERE build_id = ${buildId}`)).rowCount ?? 0;
}
