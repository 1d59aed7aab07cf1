import { type Layers, layersSchema, type Program, programSchema } from "@towpath/core/delivery/build/contract";
import { nextRebuildAt } from "@towpath/core/delivery/build/rebuild/schema";
import type { Database, DatabaseClient } from "@towpath/db";
import { branch, build, deployment, gitSource, instance, project } from "@towpath/db/schema";
import { readDeploymentSecrets, type StoredSecrets } from "@towpath/secrets";
import { desc, eq, gt, inArray, isNull, max, or, sql } from "drizzle-orm";
import { z } from "zod";

/** What the runner needs to start a deployment's server. */
export type StoredDeployment = {
  readonly deploymentId: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly environment: "production" | "preview";
  /** Whether production's `/data` outlives the server (BLD-19). */
  readonly keepsData: boolean;
  /** How many callers may have an instance of their own at a time. */
  readonly callerInstances: number;
  /** Host label of its route. */
  readonly slug: string;
  readonly program: Program;
  readonly commitSha: string;
  readonly repository: string | null;
  readonly layers: Layers;
  /** The variables that it was built with. */
  readonly stored: StoredSecrets;
};

/** Reads a deployment with its build and its variables; null when there is no such deployment. */
export async function readDeployment(
  { db, pool }: Pick<DatabaseClient, "db" | "pool">,
  deploymentId: string,
): Promise<StoredDeployment | null> {
  const [row] = await db
    .select({
      organizationId: project.organizationId,
      projectId: project.id,
      environment: deployment.environment,
      keepsData: project.keepsData,
      callerInstances: project.callerInstances,
      slug: deployment.slug,
      entrypoint: build.entrypoint,
      arguments: build.arguments,
      program: build.program,
      commitSha: build.commitSha,
      // The build's source; for a build by an earlier version, the project's current one.
      repository: sql<string | null>`CASE WHEN ${build.builtFrom} IS NOT NULL
        THEN coalesce(${build.builtFrom} ->> 'fullName', ${build.builtFrom} ->> 'url')
        WHEN ${build.packageVersion} IS NULL THEN coalesce(${project.repositoryFullName}, ${gitSource.url}) END`,
      layers: build.layers,
    })
    .from(deployment)
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(branch, eq(branch.id, deployment.branchId))
    .innerJoin(project, eq(project.id, deployment.projectId))
    .leftJoin(gitSource, eq(gitSource.projectId, project.id))
    .where(eq(deployment.id, deploymentId));
  if (row === undefined) return null;
  const stored = await readDeploymentSecrets(pool, deploymentId);
  if (stored === null) return null;
  const { entrypoint, arguments: argv, program, ...facts } = row;
  return {
    ...facts,
    // Null for builds by earlier versions.
    program: programSchema.parse(program ?? { entrypoint, arguments: argv }),
    deploymentId,
    environment: z.enum(["production", "preview"]).parse(row.environment),
    layers: layersSchema.parse(row.layers),
    stored,
  };
}

/** Deployments whose servers ran since then, the latest first, each with its last use: now, if it still runs. */
export async function recentlyRun(
  db: Database,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<{ readonly deploymentId: string; readonly ranAt: Date }[]> {
  const now = new Date();
  // A row without an end belongs to a server that runs, or that was lost with its host a moment ago.
  const endedAt = max(instance.endedAt);
  const isRunning = sql<boolean>`bool_or(${instance.endedAt} IS NULL)`;
  const rows = await db
    .select({ deploymentId: instance.deploymentId, endedAt, isRunning })
    .from(instance)
    .where(or(isNull(instance.endedAt), gt(instance.endedAt, since)))
    .groupBy(instance.deploymentId)
    .orderBy(desc(isRunning), desc(endedAt))
    .limit(limit);
  return rows.map(({ deploymentId, ...row }) => ({
    deploymentId,
    ranAt: row.isRunning || row.endedAt === null ? now : row.endedAt,
  }));
}

/**
 * When a deployment with lost layers is rebuilt next; null while a build of its branch waits or runs, and when one is
 * due.
 */
export async function nextRebuild(db: Database, deploymentId: string): Promise<Date | null> {
  const { rows } = await db.execute<{ tries: number; last: string | null; isBuilding: boolean }>(sql`
    SELECT count(l.id)::int AS tries, max(l.created_at) AS last, EXISTS (
      SELECT FROM build b WHERE b.branch_id = d.branch_id AND b.status IN ('queued', 'building')) AS "isBuilding"
    FROM deployment d JOIN project p ON p.id = d.project_id
      LEFT JOIN audit_log l ON l.organization_id = p.organization_id AND l.action = 'build.rebuild'
        AND l.detail ->> 'deployment' = d.id::text
    WHERE d.id = ${deploymentId} GROUP BY d.id`);
  const [found] = rows;
  if (!found?.last || found.isBuilding) return null;
  return nextRebuildAt(found.tries, new Date(found.last));
}

/** Which of these deployments still exist. */
export async function existingDeployments(db: Database, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .select({ id: deployment.id })
    .from(deployment)
    .where(inArray(deployment.id, [...ids]));
  return new Set(rows.map((row) => row.id));
}

/**
 * The use of a deployment's server. `needed`: a route leads to it, a gradual release gives it a share, its build has not
 * ended yet, or a legacy session may be open there. Otherwise `replaced` if another deployment of its branch is live, or `unrouted` if none is.
 */
export type DeploymentUse = "needed" | "replaced" | "unrouted";

/** Servers end sessions that are idle for this long: SESSION_IDLE_SECONDS of python/towpath_runner. */
const sessionIdle = sql`interval '30 minutes'`;

/** The use of each of these deployments; absent for one that doesn't exist. */
export async function deploymentUses(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DeploymentUse>> {
  const { rows } = await db.execute<{ id: string; use: DeploymentUse }>(sql`
    SELECT d.id, CASE
      WHEN b.status = 'building' OR EXISTS (SELECT FROM route r WHERE r.deployment_id = d.id)
        OR EXISTS (SELECT FROM gradual_release g WHERE g.candidate_deployment_id = d.id AND g.state = 'running') OR EXISTS (
        SELECT FROM request_log_session s
        WHERE s.project_id = d.project_id AND s.deployment_id = d.id AND s.session IS NOT NULL
          AND s.last_slot >= date_bin('10 minutes', now() - ${sessionIdle}, 'epoch')
          AND s.last_seen > now() - ${sessionIdle}
          AND NOT EXISTS (SELECT FROM request_log l WHERE l.project_id = s.project_id AND l.session = s.session
            AND l.time >= s.last_seen AND l.time < s.last_seen + interval '1 second'
            AND l.http_method = 'DELETE' AND l.http_status < 300)) THEN 'needed'
      WHEN EXISTS (SELECT FROM route r WHERE r.branch_id = d.branch_id) THEN 'replaced'
      ELSE 'unrouted' END AS use
    FROM deployment d JOIN build b ON b.id = d.build_id
    WHERE d.id IN (${sql.join(
      ids.map((id) => sql`${id}`),
      sql`, `,
    )})`);
  return new Map(rows.map(({ id, use }) => [id, use]));
}
