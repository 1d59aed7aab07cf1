import type { Database, Transaction } from "@towpath/db";
import { branch, build, buildLog, deployment, organization, project, route, user } from "@towpath/db/schema";
import { and, desc, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import { isLiveColumn, warningCount } from "../deployment/internal.ts";
import { expectedBefore } from "./build.state.ts";
import { type BuildLogLine, type BuildPhase, type BuildStatus, buildPhases } from "./build-contract.schema.ts";

type Queryable = Database | Transaction;
type ReleaseOfBuild = { readonly state: string; readonly share: number; readonly reason: string | null };

// Without the large columns: a manifest can be a megabyte, and PostgreSQL sorts whole rows.
const {
  manifest: _manifest,
  layers: _layers,
  resolution: _resolution,
  timings: _timings,
  warnings: _warnings,
  ...summaryColumns
} = getTableColumns(build);

/** The last gradual release of a build's version. */
const releaseColumn = sql<ReleaseOfBuild | null>`(
  SELECT json_build_object('state', release.state, 'share', release.share, 'reason', release.reason)
  FROM gradual_release release WHERE release.candidate_deployment_id = ${deployment.id}
  ORDER BY release.started_at DESC LIMIT 1)`.as("release");
/** State of the approval that it waits or waited for. */
const approvalColumn = sql<string | null>`(
  SELECT approval.state FROM deployment_approval approval WHERE approval.deployment_id = ${deployment.id})`.as(
  "approval",
);

const joined = {
  warningCount,
  release: releaseColumn,
  approval: approvalColumn,
  branch: { id: branch.id, name: branch.name, isDefault: branch.isDefault, endedAt: branch.endedAt },
  deployment,
  isLive: isLiveColumn,
  project,
  orgSlug: organization.slug,
  startedBy: { firstName: user.firstName, lastName: user.lastName, email: user.email },
};

function selectJoined<Columns extends Partial<ReturnType<typeof getTableColumns<typeof build>>>>(
  db: Queryable,
  columns: Columns,
  where: SQL | undefined,
) {
  return db
    .select({ build: columns, ...joined })
    .from(build)
    .innerJoin(branch, eq(branch.id, build.branchId))
    .innerJoin(project, eq(project.id, build.projectId))
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .leftJoin(deployment, eq(deployment.buildId, build.id))
    .leftJoin(route, eq(route.deploymentId, deployment.id))
    .leftJoin(user, eq(user.id, build.createdByUserId))
    .where(where)
    .orderBy(desc(build.createdAt), desc(build.id))
    .$dynamic();
}

/** Builds for lists. `where` must restrict them to a project or build whose access was checked. */
export const selectBuildSummaries = (db: Queryable, where: SQL | undefined) => selectJoined(db, summaryColumns, where);

/** The same with manifests. */
export const selectBuildSummariesWithManifests = (db: Queryable, where: SQL | undefined) =>
  selectJoined(db, { ...summaryColumns, manifest: build.manifest }, where);

export type BuildSummaryJoin = Awaited<ReturnType<typeof selectBuildSummaries>>[number];

/** The same with manifest, layers, timings and warnings, for the page of one build. */
export const selectBuilds = (db: Queryable, where: SQL | undefined) => selectJoined(db, getTableColumns(build), where);

export type BuildJoin = Awaited<ReturnType<typeof selectBuilds>>[number];

/** Builds that lists show after a build, by time and id; none for a build that is gone. */
export const olderThan = (buildId: string): SQL =>
  sql`(${build.createdAt}, ${build.id}) < (SELECT created_at, id FROM ${build} AS last WHERE last.id = ${buildId}::uuid)`;

/** A build's project, for the access check. */
export async function projectIdOfBuild(db: Queryable, buildId: string): Promise<string | undefined> {
  const [row] = await db.select({ projectId: build.projectId }).from(build).where(eq(build.id, buildId));
  return row?.projectId;
}

/** The build with the highest sequence of a branch. */
export async function newestBuildOf(db: Queryable, branchId: string) {
  const [row] = await db
    .select()
    .from(build)
    .where(eq(build.branchId, branchId))
    .orderBy(desc(build.sequence))
    .limit(1);
  return row;
}

/** The attempt of a worker at a build. */
type Fence = { readonly buildId: string; readonly attempt: number };

/** Condition for what a worker writes while it builds: its attempt is still the current one (BLD-1). */
export const isCurrentAttempt = ({ buildId, attempt }: Fence) =>
  and(eq(build.id, buildId), eq(build.status, "building"), eq(build.attempt, attempt));

/**
 * Condition for a worker's update: the status may become `to`, and the worker's attempt is still the current one
 * (BLD-1).
 */
export const ofAttempt = (fence: Fence, to: BuildStatus) =>
  and(eq(build.id, fence.buildId), inArray(build.status, [...expectedBefore(to)]), eq(build.attempt, fence.attempt));

/** The phase of the last line of a build's log. */
export async function lastPhase(tx: Transaction, buildId: string): Promise<BuildPhase> {
  const [row] = await tx
    .select({ phase: buildLog.phase })
    .from(buildLog)
    .where(eq(buildLog.buildId, buildId))
    .orderBy(desc(buildLog.line))
    .limit(1);
  return buildPhases.find((phase) => phase === row?.phase) ?? "fetch";
}

type BuildLogEntry = Omit<BuildLogLine, "time">;

/**
 * Appends a line to a build's log in the transaction that changes the build, so that readers see both or neither. The
 * transaction has locked the build's row, so the line number is free (see `appendBuildLog`).
 */
export async function writeToBuildLog(
  tx: Transaction,
  buildId: string,
  time: Date,
  entry: BuildLogEntry,
): Promise<void> {
  await tx.insert(buildLog).values({
    buildId,
    line: sql`(SELECT coalesce(max(line), 0) + 1 FROM build_log WHERE build_id = ${buildId})`,
    time,
    ...entry,
  });
  await tx.execute(sql`SELECT pg_notify('towpath_build_log', ${buildId})`);
}
