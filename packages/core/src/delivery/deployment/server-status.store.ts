import type { Database, Transaction } from "@towpath/db";
import { branch, build, deployment, deploymentApproval, instance, route } from "@towpath/db/schema";
import { and, desc, eq, gte, type SQL, sql } from "drizzle-orm";
import { countsForServer } from "./caller-instances.store.ts";
import { isRolledBack, rolledBackFrom } from "./deployment.view.ts";

type Queryable = Database | Transaction;

/** The default branch of a project, or the one with an id; none for a branch of another project. */
export async function findBranch(db: Queryable, projectId: string, branchId: string | null) {
  const which = branchId === null ? eq(branch.isDefault, true) : eq(branch.id, branchId);
  const [row] = await db
    .select()
    .from(branch)
    .where(and(eq(branch.projectId, projectId), which));
  return row;
}

/** The id of a project's branch of that name; null for none. */
export async function findBranchId(db: Queryable, projectId: string, name: string): Promise<string | null> {
  const [row] = await db
    .select({ id: branch.id })
    .from(branch)
    .where(and(eq(branch.projectId, projectId), eq(branch.name, name)));
  return row?.id ?? null;
}

/**
 * A stored manifest without what PostgreSQL refuses to look into, NUL and lone surrogates: those of earlier versions may
 * have it, and one of them must not end the list of all servers. Few have escapes at all.
 */
const readableManifest = sql`CASE WHEN strpos(${build.manifest}::text, '\\u') = 0 THEN ${build.manifest}
  ELSE regexp_replace(${build.manifest}::text, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::json END`;

/** How many tools a stored manifest names; null without a manifest. */
export const toolCount = sql<
  number | null
>`(SELECT CASE WHEN json_typeof(listed) = 'array' THEN json_array_length(listed) END FROM (SELECT ${readableManifest} -> 'tools' AS listed) AS manifest)`;

/** What a branch's route leads to, and since when. */
export async function findLive(db: Queryable, branchId: string) {
  const [row] = await db
    .select({
      deploymentId: deployment.id,
      slug: deployment.slug,
      buildId: build.id,
      commitSha: build.commitSha,
      packageVersion: build.packageVersion,
      commitMessage: build.commitMessage,
      commitAuthor: build.commitAuthor,
      trigger: build.trigger,
      tools: toolCount,
      since: route.updatedAt,
      isRolledBack: isRolledBack(),
      rolledBackFrom: rolledBackFrom(),
    })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(eq(route.branchId, branchId));
  return row;
}

/** The newest build of a branch, without its large columns. */
export async function findLatestBuild(db: Queryable, branchId: string) {
  const [row] = await db
    .select({
      id: build.id,
      status: build.status,
      commitSha: build.commitSha,
      packageVersion: build.packageVersion,
      commitMessage: build.commitMessage,
      diagnosis: build.diagnosis,
      createdAt: build.createdAt,
      approval: deploymentApproval.state,
    })
    .from(build)
    .leftJoin(deployment, eq(deployment.buildId, build.id))
    .leftJoin(deploymentApproval, eq(deploymentApproval.deploymentId, deployment.id))
    .where(eq(build.branchId, branchId))
    .orderBy(desc(build.sequence))
    .limit(1);
  return row;
}

/** The newest instance that counts for the server of the deployment that `condition` names. */
export function newestInstance(db: Queryable, condition: SQL) {
  return db
    .select({
      state: instance.state,
      startedAt: instance.startedAt,
      endedAt: instance.endedAt,
      endReason: instance.endReason,
      memoryBytes: instance.memoryBytes,
    })
    .from(instance)
    .where(and(condition, countsForServer))
    .orderBy(desc(instance.startedAt))
    .limit(1);
}

/** Ids of a branch's newest deployments, at most `limit`; none for a branch of another project. */
export async function newestDeploymentIds(
  db: Queryable,
  scope: { readonly projectId: string; readonly branchId: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await db
    .select({ id: deployment.id })
    .from(deployment)
    .where(and(eq(deployment.projectId, scope.projectId), eq(deployment.branchId, scope.branchId)))
    .orderBy(desc(deployment.createdAt), desc(deployment.id))
    .limit(scope.limit);
  return rows.map(({ id }) => id);
}

/** Deployments of a project, or of one of its branches, since a time; newest first, at most `limit`. */
export function deploymentsSince(
  db: Queryable,
  scope: { readonly projectId: string; readonly branchId: string | null; readonly since: Date; readonly limit: number },
) {
  return db
    .select({
      id: deployment.id,
      buildId: deployment.buildId,
      commitSha: build.commitSha,
      packageVersion: build.packageVersion,
      branch: branch.name,
      createdAt: deployment.createdAt,
    })
    .from(deployment)
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(branch, eq(branch.id, deployment.branchId))
    .where(
      and(
        eq(deployment.projectId, scope.projectId),
        scope.branchId === null ? undefined : eq(deployment.branchId, scope.branchId),
        gte(deployment.createdAt, scope.since),
      ),
    )
    .orderBy(desc(deployment.createdAt), desc(deployment.id))
    .limit(scope.limit);
}
