import type { Database, Transaction } from "@towpath/db";
import { branch, build, deployment, organization, project, route } from "@towpath/db/schema";
import { and, desc, eq, getTableColumns, inArray, type SQL } from "drizzle-orm";
import { isLiveColumn, warningCount } from "../deployment/internal.ts";
import { expectedBefore } from "./build.state.ts";
import type { BuildStatus } from "./build-contract.schema.ts";

type Queryable = Database | Transaction;

// A manifest can be a megabyte, and PostgreSQL sorts whole rows.
const {
  manifest: _manifest,
  layers: _layers,
  timings: _timings,
  warnings: _warnings,
  ...summaryColumns
} = getTableColumns(build);

const joined = {
  warningCount,
  branch: { id: branch.id, name: branch.name, isDefault: branch.isDefault },
  deployment,
  isLive: isLiveColumn,
  project,
  orgSlug: organization.slug,
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
    .where(where)
    .orderBy(desc(build.createdAt), desc(build.id))
    .$dynamic();
}

/** Builds as lists show them. `where` must name the project or a build whose access was checked. */
export const selectBuildSummaries = (db: Queryable, where: SQL | undefined) => selectJoined(db, summaryColumns, where);

export type BuildSummaryJoin = Awaited<ReturnType<typeof selectBuildSummaries>>[number];

/** The same with manifest, layers and timings, for the page of one build. */
export const selectBuilds = (db: Queryable, where: SQL | undefined) => selectJoined(db, getTableColumns(build), where);

export type BuildJoin = Awaited<ReturnType<typeof selectBuilds>>[number];

/** Which project a build belongs to, for the access check. */
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

/**
 * Condition of a worker's write: the build may become `to`, and the attempt that the worker has taken is still the
 * current one (BLD-1).
 */
export const ofAttempt = (fence: { readonly buildId: string; readonly attempt: number }, to: BuildStatus) =>
  and(eq(build.id, fence.buildId), inArray(build.status, [...expectedBefore(to)]), eq(build.attempt, fence.attempt));
