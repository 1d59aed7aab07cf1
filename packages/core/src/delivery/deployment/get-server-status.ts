import { instance } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { z } from "zod";
import { authorizeProject } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { mcpUrl } from "../../projects/server-url/index.ts";
import { buildStatusSchema, buildTriggerSchema, packageVersionView } from "../build/build-contract.schema.ts";
import { readDiagnosis, rebuildTries } from "../build/internal.ts";
import { approvalStateSchema } from "../gradual-release/gradual-release.schema.ts";
import { callerInstancesSchema, findCallerInstances } from "./caller-instances.store.ts";
import { replacedVersionSchema } from "./deployment.view.ts";
import { instanceState, instanceStateSchema } from "./instance-state.ts";
import {
  deploymentsSince,
  findBranch,
  findBranchId,
  findLatestBuild,
  findLive,
  newestDeploymentIds,
  newestInstance,
} from "./server-status.store.ts";

/** How the server of a branch is now (PRJ-19). */
export const serverStatusSchema = z.object({
  /** Null for a project without repository, whose server runs elsewhere. */
  branch: z.object({ id: z.uuid(), name: z.string(), isDefault: z.boolean() }).nullable(),
  /** Null when nothing is live. */
  live: z
    .object({
      deploymentId: z.uuid(),
      buildId: z.uuid(),
      commitSha: z.string(),
      packageVersion: packageVersionView,
      commitMessage: z.string().nullable(),
      commitAuthor: z.string().nullable(),
      trigger: buildTriggerSchema,
      /** When the route was pointed to it. */
      since: z.iso.datetime(),
      url: z.url(),
      /** How many tools it offers; null when that isn't known. */
      tools: z.number().int().nullable(),
      isRolledBack: z.boolean().describe("somebody went back to it from a newer version"),
      rolledBackFrom: replacedVersionSchema
        .nullable()
        .describe("the newest version that was live; null if it was removed since"),
      lost: z
        .object({ nextTryAt: z.iso.datetime().nullable() })
        .nullable()
        .describe("set while its files are lost and it is built again; the time is null if that is now"),
    })
    .nullable(),
  latestBuild: z
    .object({
      id: z.uuid(),
      status: buildStatusSchema,
      commitSha: z.string(),
      commitMessage: z.string().nullable(),
      createdAt: z.iso.datetime(),
      packageVersion: packageVersionView,
      /** What went wrong, in one line; null unless it failed. */
      problem: z.string().nullable(),
      /** Of a deployment to production; null: it needs none. */
      approval: approvalStateSchema.nullable(),
    })
    .nullable(),
  /** Of what is live, the newest that counts for all callers; null when nothing is, or it was never started. */
  instance: z
    .object({
      state: instanceStateSchema,
      startedAt: z.iso.datetime(),
      /** Null while it runs. */
      endedAt: z.iso.datetime().nullable(),
      endReason: z.string().nullable(),
      /** As last measured; null when it doesn't run, or that isn't known. */
      memoryBytes: z.number().nullable(),
    })
    .nullable(),
  /** Of what is live: instances that serve a single caller each; null when nothing is, or no caller has had one. */
  callers: callerInstancesSchema.nullable(),
  /** Of the last 48 hours, newest first, at most 50. Of all branches, unless a branch was asked for. */
  deployments: z
    .array(
      z.object({
        id: z.uuid(),
        buildId: z.uuid(),
        commitSha: z.string(),
        packageVersion: packageVersionView,
        branch: z.string(),
        createdAt: z.iso.datetime(),
      }),
    )
    .readonly(),
});
export type ServerStatusView = z.infer<typeof serverStatusSchema>;

const shownMs = 48 * 3_600_000;
const maxShown = 50;
const dueMs = 60_000;

/**
 * The state of a project's server: what is live, its newest build, its process. Without `branchId`: production.
 *
 * @throws TowpathError `not_found` for a project of others, and for a branch that the project doesn't have
 */
export async function getServerStatus(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string; readonly branchId?: string | undefined };
}): Promise<ServerStatusView> {
  const { ctx, input } = call;
  const { project } = await authorizeProject(ctx, "project.read", input);
  const branchId = input.branchId ?? null;
  const branch = branchId === null || isId(branchId) ? await findBranch(ctx.db, project.id, branchId) : undefined;
  if (!branch && branchId !== null) throw notFound("branch");
  if (!branch) return { branch: null, live: null, latestBuild: null, instance: null, callers: null, deployments: [] };
  const since = new Date(ctx.clock.now().getTime() - shownMs);
  const [live, latest, deployments] = await Promise.all([
    findLive(ctx.db, branch.id),
    findLatestBuild(ctx.db, branch.id),
    deploymentsSince(ctx.db, { projectId: project.id, branchId, since, limit: maxShown }),
  ]);
  const [running] = live ? await newestInstance(ctx.db, eq(instance.deploymentId, live.deploymentId)) : [];
  const { organizationId } = project;
  // What was built again is newer than what is live.
  const tried =
    live && latest && latest.id !== live.buildId
      ? await rebuildTries(ctx.db, { organizationId, deploymentId: live.deploymentId })
      : null;
  const isLost = live && tried && tried.last > live.since && !startedAfter(running, tried.last);
  return {
    branch: { id: branch.id, name: branch.name, isDefault: branch.isDefault },
    live: live
      ? {
          deploymentId: live.deploymentId,
          buildId: live.buildId,
          commitSha: live.commitSha,
          packageVersion: live.packageVersion,
          commitMessage: live.commitMessage,
          commitAuthor: live.commitAuthor,
          trigger: buildTriggerSchema.catch("push").parse(live.trigger),
          since: live.since.toISOString(),
          url: mcpUrl(ctx.serverUrlTemplate, live.slug),
          tools: live.tools,
          isRolledBack: live.isRolledBack,
          rolledBackFrom: live.rolledBackFrom,
          lost: isLost && latest ? lostView(ctx, tried.next, latest.status) : null,
        }
      : null,
    latestBuild: latest
      ? {
          id: latest.id,
          status: buildStatusSchema.parse(latest.status),
          commitSha: latest.commitSha,
          packageVersion: latest.packageVersion,
          commitMessage: latest.commitMessage,
          createdAt: latest.createdAt.toISOString(),
          approval: approvalStateSchema.nullable().catch(null).parse(latest.approval),
          problem: latest.status === "failed" ? (readDiagnosis(latest.diagnosis)?.title ?? "The build failed") : null,
        }
      : null,
    instance: running ? instanceView(running) : null,
    callers: live ? await findCallerInstances(ctx.db, { deploymentId: live.deploymentId, now: ctx.clock.now() }) : null,
    deployments: deployments.map((each) => ({ ...each, createdAt: each.createdAt.toISOString() })),
  };
}

const maxCounted = 200;

/**
 * Whose calls count as a branch's, which is given by its id or its name: its newest deployments, at most 200. None for an
 * id that the project doesn't have.
 *
 * @throws TowpathError `invalid_input` for a name that no branch of the project has
 */
export async function listBranchDeploymentIds(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string } & (
    | { readonly branchId: string }
    | { readonly branch: string }
  );
}): Promise<readonly string[]> {
  const { ctx, input } = call;
  const { project } = await authorizeProject(ctx, "project.read", input);
  const branchId = "branchId" in input ? input.branchId : await findBranchId(ctx.db, project.id, input.branch);
  if (branchId === null) {
    const message = `This server has no branch “${"branch" in input ? input.branch : ""}” that was built.`;
    throw new TowpathError("invalid_input", message, { fields: { branch: message } });
  }
  return newestDeploymentIds(ctx.db, { projectId: project.id, branchId, limit: maxCounted });
}

type Running = { readonly state: string; readonly startedAt: Date };

/** Whether it has started since: what was missing is back. */
const startedAfter = (running: Running | undefined, last: Date): boolean =>
  running !== undefined && running.startedAt > last && !["starting", "crashed"].includes(instanceState(running.state));

function lostView(ctx: Context, next: Date, latest: string): NonNullable<ServerStatusView["live"]>["lost"] {
  const isBuilding = latest === "queued" || latest === "building";
  const isDue = next.getTime() - ctx.clock.now().getTime() < dueMs;
  return { nextTryAt: isBuilding || isDue ? null : next.toISOString() };
}

function instanceView(row: {
  readonly state: string;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly endReason: string | null;
  readonly memoryBytes: number | null;
}): ServerStatusView["instance"] {
  const { endReason } = row;
  const isOver = row.endedAt !== null;
  return {
    state: instanceState(row.state),
    startedAt: row.startedAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
    endReason,
    memoryBytes: isOver ? null : row.memoryBytes,
  };
}
