import type { Database, Transaction } from "@towpath/db";
import { branch, build, deployment, organization, project, route } from "@towpath/db/schema";
import { and, asc, desc, eq, ilike, ne, or, sql } from "drizzle-orm";
import { isLiveColumn, warningCount } from "../deployment/internal.ts";

type Queryable = Database | Transaction;
export type ProjectRow = typeof project.$inferSelect;

/** The number of warnings of the build that is live in production; no row when none is live. */
function liveBuild(db: Queryable, projectId: string | typeof project.id) {
  return db
    .select({ warnings: warningCount.as("live_warnings") })
    .from(route)
    .innerJoin(branch, eq(branch.id, route.branchId))
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(and(eq(route.projectId, projectId), eq(branch.isDefault, true)))
    .limit(1);
}

/** The number of warnings of the build that is live in production; null when none is live. */
export async function countLiveWarnings(db: Queryable, projectId: string): Promise<number | null> {
  const [row] = await liveBuild(db, projectId);
  return row?.warnings ?? null;
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

export type ProjectFilter = { readonly type: "all" | "private" | "open"; readonly text: string };

export function listProjectRows(db: Queryable, organizationId: string, filter: ProjectFilter) {
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
  const live = liveBuild(db, project.id).as("live");
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
      liveWarnings: live.warnings,
    })
    .from(project)
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .leftJoinLateral(newestBuild, sql`true`)
    .leftJoinLateral(live, sql`true`)
    .where(
      and(
        eq(project.organizationId, organizationId),
        filter.type === "open" ? eq(project.authMode, "towpath-public") : undefined,
        filter.type === "private" ? ne(project.authMode, "towpath-public") : undefined,
        filter.text.trim() === ""
          ? undefined
          : or(
              ilike(project.name, pattern),
              ilike(project.description, pattern),
              ilike(project.repositoryFullName, pattern),
            ),
      ),
    )
    .orderBy(asc(sql`lower(${project.name})`));
}
