import type { Transaction } from "@towpath/db";
import { branch, build, deployment, gradualRelease, project, route } from "@towpath/db/schema";
import { and, eq, gt, inArray, isNull, or } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { lockBranch } from "../branch/index.ts";
import { writeToBuildLog } from "./build.store.ts";
import { layersSchema, type Resolution } from "./build-contract.schema.ts";
import { auditedVersion, type BuildRow, enqueueBuild, insertBuild, sourceOfBuild } from "./queue-build.ts";
import { rebuildAction, rebuildTries } from "./rebuild-tries.ts";

const reason =
  "Towpath is rebuilding this commit: the result of its earlier build is no longer stored, so its server couldn't be started.";

export type LostLayers = {
  /** Deployments that can't be started. */
  readonly lost: number;
  /** Ids of the builds that were queued for them. */
  readonly queued: readonly string[];
};

/**
 * Queues builds of deployments that are live or being released and can't be started because their layers are missing from
 * the artifact store: the store was lost, or a layer was damaged. Again with growing pauses until one has succeeded, and not while a build of
 * its branch is queued or running. Each installs what the lost one had installed. Any worker may run it at any time.
 * @param call.input.isStart a worker starts, so it doesn't wait for a pause to end
 */
export async function rebuildLostLayers(call: {
  ctx: Context;
  input: {
    /** Those of these layers that are not stored. */
    readonly missing: (digests: readonly string[]) => Promise<ReadonlySet<string>>;
    readonly isStart?: boolean;
    readonly signal?: AbortSignal;
  };
}): Promise<LostLayers> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const deployments = (await served(ctx)).map(({ deploymentId, layers }) => {
    const { dependencies, code } = layersSchema.parse(layers);
    return { deploymentId, layers: [dependencies, code] };
  });
  const missing = await input.missing(deployments.flatMap(({ layers }) => layers));
  const queued: string[] = [];
  let lost = 0;
  for (const { deploymentId, layers } of deployments) {
    if (input.signal?.aborted) break;
    if (!layers.some((digest) => missing.has(digest))) continue;
    lost += 1;
    const buildId = await ctx.db.transaction((tx) => rebuild(tx, ctx, deploymentId, input.isStart ?? false));
    if (buildId !== null) queued.push(buildId);
  }
  return { lost, queued };
}

/** Deployments that callers get, the live ones first. */
async function served({ db }: Context) {
  const columns = { deploymentId: deployment.id, layers: build.layers };
  const live = await db
    .select(columns)
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(branch, eq(branch.id, route.branchId))
    .where(isNull(branch.endedAt));
  const released = await db
    .select(columns)
    .from(gradualRelease)
    .innerJoin(deployment, eq(deployment.id, gradualRelease.candidateDeploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(eq(gradualRelease.state, "running"));
  return [...live, ...released];
}

/** Null when there is nothing to do now: another worker was faster, there is a newer build, or the pause hasn't ended. */
async function rebuild(tx: Transaction, ctx: Context, deploymentId: string, isStart: boolean): Promise<string | null> {
  const [of] = await tx
    .select({ branchId: deployment.branchId })
    .from(deployment)
    .where(eq(deployment.id, deploymentId));
  if (of === undefined) return null;
  await lockBranch(tx, of.branchId);
  const [found] = await tx
    .select({ project, build })
    .from(deployment)
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(project, eq(project.id, deployment.projectId))
    .where(eq(deployment.id, deploymentId));
  const isLive = (await tx.$count(route, eq(route.deploymentId, deploymentId))) > 0;
  if (found === undefined || !(isLive || (await isReleased(tx, deploymentId)))) return null;
  // One that waits for its approval has been built: a further one would take its place.
  const isRebuilt = and(eq(build.status, "succeeded"), gt(build.sequence, found.build.sequence));
  const isBusy = inArray(build.status, ["queued", "building"]);
  const other = and(eq(build.branchId, of.branchId), isLive ? isBusy : or(isBusy, isRebuilt));
  if ((await tx.$count(build, other)) > 0) return null;
  const { organizationId } = found.project;
  const tried = await rebuildTries(tx, { organizationId, deploymentId });
  if (!isStart && tried && ctx.clock.now() < tried.next) return null;
  const commit = sourceOfBuild(found.build);
  const row = await insertBuild(tx, ctx, {
    project: found.project,
    branchId: of.branchId,
    commit,
    trigger: "redeploy",
    lost: { ...found.build, resolution: found.build.resolution ?? resolutionBefore(found.build) },
    // In place of the one whose files are lost, a new release begins, after an approval where one is needed.
    ...(!isLive && { isGradual: true }),
  });
  await writeToBuildLog(tx, row.id, ctx.clock.now(), { phase: "fetch", kind: "warning", text: reason });
  await enqueueBuild(tx, ctx, row.id);
  await audit(tx, ctx, {
    organizationId,
    projectId: found.project.id,
    action: rebuildAction,
    subject: row.id,
    detail: { of: found.build.id, deployment: deploymentId, ...auditedVersion(found.build) },
  });
  return row.id;
}

const isReleased = async (tx: Transaction, deploymentId: string): Promise<boolean> =>
  (await tx.$count(
    gradualRelease,
    and(eq(gradualRelease.candidateDeploymentId, deploymentId), eq(gradualRelease.state, "running")),
  )) > 0;

/** Of a build by an earlier version, which recorded no versions: what the index had when it was built. */
const resolutionBefore = ({ layers, startedAt, createdAt }: BuildRow): Resolution => ({
  pythonVersion: layersSchema.parse(layers).pythonVersion,
  pins: null,
  at: (startedAt ?? createdAt).toISOString(),
});
