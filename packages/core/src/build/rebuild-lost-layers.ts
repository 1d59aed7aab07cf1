import type { Transaction } from "@towpath/db";
import { auditLog, branch, build, deployment, project, route } from "@towpath/db/schema";
import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import { authorizePlatform } from "../authorize/index.ts";
import { lockBranch } from "../branch/index.ts";
import type { Context } from "../context/index.ts";
import { noteInBuildLog } from "./build.store.ts";
import { layersSchema } from "./build-contract.schema.ts";
import { auditedVersion, enqueueBuild, insertBuild, sourceOfBuild } from "./queue-build.ts";

const action = "build.rebuild";
const reason =
  "Towpath is rebuilding this commit: the result of its earlier build is no longer stored, so its server couldn't be started.";

/**
 * Queues builds of live deployments that can't be started because their layers are missing from the artifact store: the
 * store was lost, a layer was damaged, or an earlier version of Towpath stored it elsewhere. Once for each deployment,
 * and not while a build of its branch is queued or running. Any worker may run it at any time.
 *
 * @returns ids of the builds
 */
export async function rebuildLostLayers(call: {
  ctx: Context;
  input: { readonly isStored: (digest: string) => Promise<boolean>; readonly signal?: AbortSignal };
}): Promise<readonly string[]> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const live = await ctx.db
    .select({ deploymentId: deployment.id, layers: build.layers })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(branch, eq(branch.id, route.branchId))
    .where(isNull(branch.endedAt));
  const queued: string[] = [];
  for (const { deploymentId, layers } of live) {
    if (input.signal?.aborted) break;
    const { dependencies, code } = layersSchema.parse(layers);
    if ((await input.isStored(dependencies)) && (await input.isStored(code))) continue;
    const buildId = await ctx.db.transaction((tx) => rebuild(tx, ctx, deploymentId));
    if (buildId !== null) queued.push(buildId);
  }
  return queued;
}

/** Null when there is nothing to do: another worker was faster, or there is a newer build. */
async function rebuild(tx: Transaction, ctx: Context, deploymentId: string): Promise<string | null> {
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
  const tried = and(
    eq(auditLog.organizationId, organizationId),
    eq(auditLog.action, action),
    sql`${auditLog.detail} ->> 'deployment' = ${deploymentId}`,
  );
  if ((await tx.$count(auditLog, tried)) > 0) return null;
  const commit = sourceOfBuild(live.build);
  const row = await insertBuild(tx, ctx, {
    project: live.project,
    branchId: of.branchId,
    commit,
    trigger: "redeploy",
  });
  await noteInBuildLog(tx, row.id, ctx.clock.now(), { phase: "fetch", kind: "warning", text: reason });
  await enqueueBuild(tx, ctx, row.id);
  await audit(tx, ctx, {
    organizationId,
    projectId: live.project.id,
    action,
    subject: row.id,
    detail: { of: live.build.id, deployment: deploymentId, ...auditedVersion(live.build) },
  });
  return row.id;
}
