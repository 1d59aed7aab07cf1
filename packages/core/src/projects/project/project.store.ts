import type { Database, Transaction } from "@towpath/db";
import {
  branch,
  build,
  deployment,
  externalServer,
  forkPullRequest,
  gitSource,
  instance,
  member,
  organization,
  project,
  repository,
  route,
} from "@towpath/db/schema";
import { and, asc, desc, eq, ilike, inArray, ne, or, sql } from "drizzle-orm";
import { roles } from "../../context/index.ts";
import {
  isLiveColumn,
  isRolledBack,
  newestInstance,
  ownSignIn,
  toolCount,
  warningCount,
} from "../../delivery/deployment/internal.ts";
import { type GitSummaryColumns, sourceOf } from "../../sources/source/internal.ts";

type Queryable = Database | Transaction;
export type ProjectRow = typeof project.$inferSelect;

type LiveBuild = {
  /** How many warnings it has. */
  readonly warnings: number;
  /** Whether its server does its own sign-in; null when that isn't known. */
  readonly ownSignIn: boolean | null;
  /** How its newest instance is, as the `instance` table says; null when it was never started. */
  readonly instance: string | null;
  readonly rolledBackTo: RolledBackTo | null;
  /** Of the icon that its server named. */
  readonly iconHash: string | null;
};

/** The version that is live because somebody went back to it (PRJ-14). */
type RolledBackTo = { readonly commitSha: string; readonly packageVersion: string | null };

/** Where an external server is, and how its last inspection ended. */
const externalColumns = {
  url: externalServer.url,
  problem: externalServer.problem,
  checkedAt: externalServer.checkedAt,
  iconHash: externalServer.iconHash,
} as const;

/** What is shown of a Git URL or a repository of this instance. */
const gitColumns = {
  // The first one must not be nullable: by it drizzle decides whether there is a row.
  previews: gitSource.previews,
  url: gitSource.url,
  checkedAt: gitSource.checkedAt,
  problem: gitSource.problem,
  credentialExpiresAt: gitSource.credentialExpiresAt,
  repositoryName: sql<
    string | null
  >`(SELECT ${repository.name} FROM ${repository} WHERE ${repository.id} = ${gitSource.repositoryId})`,
} as const satisfies Record<keyof GitSummaryColumns, unknown>;
type ExternalColumns = Pick<typeof externalServer.$inferSelect, keyof typeof externalColumns>;

/** What is live of a project: the build in production of a hosted one, the server elsewhere of an external one. */
export type ProjectState = {
  readonly live: LiveBuild | null;
  readonly external: ExternalColumns | null;
  /** Its Git URL or repository of this instance, if it is built from one. */
  readonly git: GitSummaryColumns | null;
};

export async function findProjectState(db: Queryable, row: ProjectRow): Promise<ProjectState> {
  const { id } = row;
  if (row.kind === "hosted") {
    const isGit = sourceOf(row)?.kind === "git";
    const [git] = isGit ? await db.select(gitColumns).from(gitSource).where(eq(gitSource.projectId, id)) : [];
    return { live: await findLiveBuild(db, id), external: null, git: git ?? null };
  }
  const [external] = await db.select(externalColumns).from(externalServer).where(eq(externalServer.projectId, id));
  return { live: null, external: external ?? null, git: null };
}

/** What is shown of the build that is live in production of the query's project; no row when none is live. */
function liveBuild(db: Queryable) {
  return db
    .select({
      warnings: warningCount.as("live_warnings"),
      ownSignIn: ownSignIn.as("live_own_sign_in"),
      deploymentId: sql<string>`${deployment.id}`.as("live_deployment_id"),
      buildId: sql<string>`${build.id}`.as("live_build_id"),
      tools: toolCount.as("live_tools"),
      iconHash: sql<string | null>`${build.iconHash}`.as("live_icon_hash"),
      rolledBackTo:
        sql<RolledBackTo | null>`CASE WHEN ${isRolledBack()} THEN json_build_object('commitSha', ${build.commitSha}, 'packageVersion', ${build.packageVersion}) END`.as(
          "rolled_back_to",
        ),
    })
    .from(route)
    .innerJoin(branch, eq(branch.id, route.branchId))
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(and(eq(route.projectId, project.id), eq(branch.isDefault, true)))
    .limit(1)
    .as("live");
}

/** The same; null when none is live. */
async function findLiveBuild(db: Queryable, projectId: string): Promise<LiveBuild | null> {
  const live = liveBuild(db);
  const running = newestInstance(db, eq(instance.deploymentId, live.deploymentId)).as("running");
  const [row] = await db
    .select({
      warnings: live.warnings,
      ownSignIn: live.ownSignIn,
      rolledBackTo: live.rolledBackTo,
      iconHash: live.iconHash,
      instance: running.state,
    })
    .from(project)
    .innerJoinLateral(live, sql`true`)
    .leftJoinLateral(running, sql`true`)
    .where(eq(project.id, projectId));
  return row ?? null;
}

export function newestDeployments(db: Queryable, projectId: string, limit: number) {
  return db
    .select({ deployment, isLive: isLiveColumn })
    .from(deployment)
    .leftJoin(route, eq(route.deploymentId, deployment.id))
    .where(eq(deployment.projectId, projectId))
    .orderBy(desc(deployment.createdAt), desc(deployment.id))
    .limit(limit);
}

/** Ids of the organizations whose projects a user may see: a role that this version doesn't know sees none. */
export async function organizationsOf(db: Queryable, userId: string): Promise<readonly string[]> {
  const rows = await db
    .select({ id: member.organizationId })
    .from(member)
    .where(and(eq(member.userId, userId), inArray(member.role, [...roles])));
  return rows.map(({ id }) => id);
}

export type ProjectFilter = { readonly type: "all" | "private" | "open"; readonly text: string };

/** The deployments that routes of these projects lead to: production, and each preview. */
export function liveDeployments(db: Queryable, projectIds: readonly string[]) {
  return db
    .select({ deployment })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .where(inArray(route.projectId, [...projectIds]))
    .orderBy(desc(deployment.environment), asc(deployment.slug));
}

/** How many open pull requests from forks wait for the approval of their commit (BLD-9). */
const waitingForks = sql<number>`(SELECT count(*)::int FROM ${forkPullRequest} JOIN ${branch} ON ${branch.id} = ${forkPullRequest.branchId}
  WHERE ${branch.projectId} = ${project.id} AND ${branch.endedAt} IS NULL AND ${forkPullRequest.state} = 'waiting')`;

/** The projects of organizations that the caller has checked. */
export function listProjectRows(db: Queryable, organizationIds: readonly string[], filter: ProjectFilter) {
  // Escapes LIKE's wildcards in the user's text.
  const pattern = `%${filter.text.trim().replace(/[\\%_]/g, "\\$&")}%`;
  const newestBuild = db
    .select({
      id: build.id,
      projectId: build.projectId,
      status: build.status,
      commitSha: build.commitSha,
      commitMessage: build.commitMessage,
      createdAt: build.createdAt,
      warningCount: warningCount.as("warning_count"),
    })
    .from(build)
    .where(eq(build.projectId, project.id))
    .orderBy(desc(build.createdAt), desc(build.id))
    .limit(1)
    .as("newest_build");
  const live = liveBuild(db);
  const running = newestInstance(db, eq(instance.deploymentId, live.deploymentId)).as("running");
  return db
    .select({
      project,
      orgSlug: organization.slug,
      latestBuild: {
        id: newestBuild.id,
        status: newestBuild.status,
        commitSha: newestBuild.commitSha,
        commitMessage: newestBuild.commitMessage,
        createdAt: newestBuild.createdAt,
        warningCount: newestBuild.warningCount,
      },
      external: externalColumns,
      git: gitColumns,
      live: {
        warnings: live.warnings,
        ownSignIn: live.ownSignIn,
        buildId: live.buildId,
        tools: live.tools,
        rolledBackTo: live.rolledBackTo,
        iconHash: live.iconHash,
      },
      instanceState: running.state,
      waitingForks,
    })
    .from(project)
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .leftJoinLateral(newestBuild, sql`true`)
    .leftJoinLateral(live, sql`true`)
    .leftJoin(externalServer, eq(externalServer.projectId, project.id))
    .leftJoin(gitSource, eq(gitSource.projectId, project.id))
    .leftJoinLateral(running, sql`true`)
    .where(
      and(
        inArray(project.organizationId, [...organizationIds]),
        // Portals have a list of their own.
        ne(project.kind, "portal"),
        filter.type === "open" ? eq(project.authMode, "towpath-public") : undefined,
        filter.type === "private" ? ne(project.authMode, "towpath-public") : undefined,
        filter.text.trim() === ""
          ? undefined
          : or(
              ilike(project.name, pattern),
              ilike(project.description, pattern),
              ilike(project.repositoryFullName, pattern),
              ilike(externalServer.url, pattern),
              ilike(gitSource.url, pattern),
              ilike(gitColumns.repositoryName, pattern),
            ),
      ),
    )
    .orderBy(asc(sql`lower(${project.name})`));
}

/** Those of `ids` that belong to the organization. */
export async function selectProjectIds(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await db
    .select({ id: project.id })
    .from(project)
    .where(and(eq(project.organizationId, organizationId), inArray(project.id, [...ids])));
  return rows.map(({ id }) => id);
}
