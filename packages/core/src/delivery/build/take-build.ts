import { branch, build, organization, project } from "@towpath/db/schema";
import { and, asc, eq, inArray, or, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { isId } from "../../input/index.ts";
import { chooseLabel } from "../../projects/label/index.ts";
import { type AuthMode, authModeSchema } from "../../projects/project/project.schema.ts";
import { mcpUrl, serverUrl } from "../../projects/server-url/index.ts";
import {
  type BuiltFrom,
  builtFromNow,
  builtFromOf,
  reachableNow,
  repositoryName,
} from "../../sources/source/internal.ts";
import { enqueueReport, environmentOf, pullRequestOfForkBranch } from "../branch/index.ts";
import { expectedBefore } from "./build.state.ts";
import type { Layers, Resolution } from "./build-contract.schema.ts";
import { enqueueTurn } from "./queue-build.ts";
import { readLayers, readProgram, readResolution } from "./stored-build.ts";

/** What a worker needs to run a build. `attempt` is the fence for all its later writes. */
export type TakenBuild = {
  readonly buildId: string;
  readonly attempt: number;
  readonly commitSha: string;
  /** Of a package; null for a commit. */
  readonly packageVersion: string | null;
  /** What has this commit or version; null: it isn't known any more. */
  readonly source: BuiltFrom | null;
  /** Empty: to be found in the commit. */
  readonly entrypoint: string;
  readonly arguments: readonly string[];
  readonly requirements: string | null;
  readonly rootDirectory: string | null;
  /** For a promotion: the layers that it takes over from a preview. Null: they are to be made. */
  readonly layers: Layers | null;
  /** What an earlier build of the same source installed, to be installed again; null: what the index has now. */
  readonly resolution: Resolution | null;
  readonly organizationId: string;
  /**
   * Whose packages and dependency layers the build may reuse and leave behind: the organization's, or for a pull request
   * from a fork the branch's alone (BLD-9).
   */
  readonly cacheOwnerId: string;
  readonly environment: "production" | "preview";
  readonly branchName: string;
  /** The server's public base URL, passed to it (RUN-4), without `/mcp`. */
  readonly serverUrl: string;
  readonly mcpUrl: string;
  /** What the server learns of its source: owner/name at GitHub or here, or the Git URL; null for a package. */
  readonly repository: string | null;
  /** The span that requested it (W3C Trace Context); null: unknown, or not traced. */
  readonly traceparent: string | null;
  readonly project: {
    readonly id: string;
    readonly name: string;
    readonly authMode: AuthMode;
    readonly keepsData: boolean;
  };
};

/** Advisory lock under which builds of an organization are taken. */
const takingBuilds = sql.raw("hashtext('towpath_take_build')");

/**
 * Runs `work` while no build that uses the cache of an organization, or of a fork's branch, runs; none can be taken
 * meanwhile, so `work` must be short. Null when a build is running or being taken. The owner may have been deleted.
 */
export function unlessBuilding<Result>(
  call: { ctx: Context; input: { readonly cacheOwnerId: string } },
  work: () => Promise<Result>,
): Promise<Result | null> {
  const { ctx } = call;
  const { cacheOwnerId: ownerId } = call.input;
  authorizePlatform(ctx);
  return ctx.db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ held: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(${takingBuilds}, hashtext(${ownerId})) AS held`,
    );
    if (!rows[0]?.held) return null;
    const ofOwner = isId(ownerId) ? or(eq(project.organizationId, ownerId), eq(build.branchId, ownerId)) : sql`false`;
    const underWay = await tx
      .select({ id: build.id })
      .from(build)
      .innerJoin(project, eq(project.id, build.projectId))
      .where(and(ofOwner, eq(build.status, "building")))
      .limit(1);
    return underWay.length === 0 ? work() : null;
  });
}

/** Takes a queued build for one worker; null when it isn't queued any more. */
export async function takeBuild(call: {
  ctx: Context;
  /** `worker`: names the process, for `requeueLostBuilds`. */
  input: { readonly buildId: string; readonly worker?: string };
}): Promise<TakenBuild | null> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  if (!isId(input.buildId)) return null;
  const taken = await ctx.db.transaction(async (tx) => {
    const [owner] = await tx
      .select({ organizationId: project.organizationId, branchId: build.branchId })
      .from(build)
      .innerJoin(project, eq(project.id, build.projectId))
      .where(eq(build.id, input.buildId));
    if (!owner) return null;
    for (const id of [owner.organizationId, owner.branchId]) {
      await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(${takingBuilds}, hashtext(${id}))`);
    }
    const [row] = await tx
      .update(build)
      .set({
        status: "building",
        attempt: sql`${build.attempt} + 1`,
        worker: input.worker ?? null,
        startedAt: sql`coalesce(${build.startedAt}, now())`,
        updatedAt: sql`now()`,
      })
      .where(and(eq(build.id, input.buildId), inArray(build.status, [...expectedBefore("building")])))
      .returning();
    if (row) await enqueueReport(tx, ctx, row.branchId);
    return row;
  });
  if (!taken) return null;
  const [of] = await ctx.db
    .select({ project, branch, organizationId: organization.id })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .where(eq(branch.id, taken.branchId));
  if (!of) return null;
  const now = await builtFromNow(ctx.db, of.project);
  const from = builtFromOf(taken, of.project, now);
  const isPromotion = taken.trigger === "promote";
  // With the layers comes what was found in them.
  const program = (isPromotion && readProgram(taken.program)) || taken;
  const label = await chooseLabel(ctx.db, {
    projectId: of.project.id,
    projectName: of.project.name,
    branch: of.branch,
  });
  return {
    buildId: taken.id,
    attempt: taken.attempt,
    commitSha: taken.commitSha,
    packageVersion: taken.packageVersion,
    source: from && (await reachableNow(ctx.db, of.organizationId, { from, now })),
    entrypoint: program.entrypoint,
    arguments: program.arguments,
    requirements: taken.requirements,
    rootDirectory: taken.rootDirectory,
    layers: isPromotion ? readLayers(taken.layers) : null,
    resolution: readResolution(taken.resolution),
    organizationId: of.organizationId,
    cacheOwnerId: pullRequestOfForkBranch(of.branch.name) === null ? of.organizationId : of.branch.id,
    environment: environmentOf(of.branch),
    branchName: of.branch.name,
    serverUrl: serverUrl(ctx.serverUrlTemplate, label),
    mcpUrl: mcpUrl(ctx.serverUrlTemplate, label),
    repository: repositoryName(from),
    traceparent: taken.traceparent,
    project: {
      id: of.project.id,
      name: of.project.name,
      keepsData: of.project.keepsData,
      authMode: authModeSchema.catch("towpath-cloud").parse(of.project.authMode),
    },
  };
}

/**
 * Takes the organization's oldest queued build for one worker; null when none is queued. If there is another one,
 * enqueues the organization's next turn, behind the turns of other organizations.
 */
export async function takeNextBuild({
  ctx,
  input,
}: Call<{ readonly organizationId: string; readonly worker?: string }>): Promise<TakenBuild | null> {
  authorizePlatform(ctx);
  const { worker } = input;
  for (;;) {
    const [next, another] = await ctx.db
      .select({ id: build.id })
      .from(build)
      .innerJoin(project, eq(project.id, build.projectId))
      .where(and(eq(project.organizationId, input.organizationId), eq(build.status, "queued")))
      .orderBy(asc(build.createdAt), asc(build.id))
      .limit(2);
    if (next === undefined) return null;
    // Before taking the build, so that a worker that dies in between leaves an extra turn rather than none.
    if (another !== undefined) await ctx.db.transaction((tx) => enqueueTurn(tx, ctx, input.organizationId));
    const taken = await takeBuild({ ctx, input: { buildId: next.id, ...(worker !== undefined && { worker }) } });
    // Null: another worker was faster, or the build was canceled.
    if (taken !== null) return taken;
  }
}
