import type { Transaction } from "@towpath/db";
import { branch, build, deployment, project, route } from "@towpath/db/schema";
import { and, eq, inArray, isNull } from "drizzle-orm";
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
  /** Live deployments that can't be started. */
  readonly lost: number;
  /** Ids of the builds that were queued for them. */
  readonly queued: readonly string[];
};

/**
 * Queues builds of live deployments that can't be started because their layers are missing from the artifact store: the
 * store was lost, or a layer was damaged. Again with growing pauses until one has succeeded, and not while a build of
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
  const live = await ctx.db
    .select({ deploymentId: deployment.id, layers: build.layers })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(branch, eq(branch.id, route.branchId))
    .where(isNull(branch.endedAt));
  const deployments = live.map(({ deploymentId, layers }) => {
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

/** Null when there is nothing to do now: another worker was faster, there is a newer build, or the pause hasn't ended. */
async function rebuild(tx: Transaction, ctx: Context, deploymentId: string, isStart: boolean): Promise<string | null> {
  const [of] = await tx
    .select({ branchId: deployment.branchId })
    .from(deployment)
    .where(eq(deployment.id, deploymentId));
  if (of === undefined) return null;
  await lockBranch(tx, of.branchId);
  const [live] = await tx
    .select({ project, build })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(project, eq(project.id, deployment.projectId))
    .where(eq(route.deploymentId, deploymentId));
  if (live === undefined) return null;
  const busy = and(eq(build.branchId, of.branchId), inArray(build.status, ["queued", "building"]));
  if ((await tx.$count(build, busy)) > 0) return null;
  const { organizationId } = live.project;
  const tried = await rebuildTries(tx, { organizationId, deploymentId });
  if (!isStart && tried && ctx.clock.now() < tried.next) return null;
  const commit = sourceOfBuild(live.build);
  const row = await insertBuild(tx, ctx, {
    project: live.project,
    branchId: of.branchId,
    commit,
    trigger: "redeploy",
    lost: { ...live.build, resolution: live.build.resolution ?? resolutionBefore(live.build) },
  });
  await writeToBuildLog(tx, row.id, ctx.clock.now(), { phase: "fetch", kind: "warning", text: reason });
  await enqueueBuild(tx, ctx, row.id);
  await audit(tx, ctx, {
    organizationId,
    projectId: live.project.id,
    action: rebuildAction,
    subject: row.id,
    detail: { of: live.build.id, deployment: deploymentId, ...auditedVersion(live.build) },
  });
  return row.id;
}

/** Of a build by an earlier version, which recorded no versions: what the index had when it was built. */
const resolutionBefore = ({ layers, startedAt, createdAt }: BuildRow): Resolution => ({
  pythonVersion: layersSchema.parse(layers).pythonVersion,
  pins: null,
  at: (startedAt ?? createdAt).toISOString(),
});
