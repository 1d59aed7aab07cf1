import type { Database, Transaction } from "@towpath/db";
import { branch, build, deployment, organization, project, route } from "@towpath/db/schema";
import { and, asc, desc, eq, isNull, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Context } from "../../context/index.ts";
import {
  type DeploymentView,
  deploymentSummary,
  isLiveColumn,
  isRolledBack,
  rolledBackFrom,
} from "./deployment.view.ts";

type Queryable = Database | Transaction;

/** Deployments, newest first. `where` must restrict them to a project or deployment whose access was checked. */
export function selectDeployments(db: Queryable, where: SQL | undefined) {
  return db
    .select({
      deployment,
      isLive: isLiveColumn,
      branch: { id: branch.id, name: branch.name, isDefault: branch.isDefault },
      project: { id: project.id, name: project.name, orgSlug: organization.slug },
    })
    .from(deployment)
    .innerJoin(branch, eq(branch.id, deployment.branchId))
    .innerJoin(project, eq(project.id, deployment.projectId))
    .innerJoin(organization, eq(organization.id, project.organizationId))
    .leftJoin(route, eq(route.deploymentId, deployment.id))
    .where(where)
    .orderBy(desc(deployment.createdAt), desc(deployment.id))
    .$dynamic();
}

export function deploymentView(
  ctx: Context,
  row: Awaited<ReturnType<typeof selectDeployments>>[number],
): DeploymentView {
  return {
    ...deploymentSummary(ctx, row.deployment, row.isLive),
    environment: row.deployment.environment === "production" ? "production" : "preview",
    buildId: row.deployment.buildId,
    branch: row.branch,
    project: row.project,
  };
}

export async function projectIdOfDeployment(db: Queryable, deploymentId: string): Promise<string | undefined> {
  const [row] = await db
    .select({ projectId: deployment.projectId })
    .from(deployment)
    .where(eq(deployment.id, deploymentId));
  return row?.projectId;
}

const live = alias(build, "live");

/** Branches that have not ended, the default one first, with newest build and live deployment. */
export function selectBranches(db: Queryable, projectId: string) {
  // One index lookup per branch, however many builds the project has.
  const newest = db
    .select({
      id: build.id,
      branchId: build.branchId,
      status: build.status,
      commitSha: build.commitSha,
      packageVersion: build.packageVersion,
      commitMessage: build.commitMessage,
      manifest: build.manifest,
      createdAt: build.createdAt,
    })
    .from(build)
    .where(eq(build.branchId, branch.id))
    .orderBy(desc(build.sequence))
    .limit(1)
    .as("newest");
  return db
    .select({
      branch,
      latestBuild: {
        id: newest.id,
        status: newest.status,
        commitSha: newest.commitSha,
        packageVersion: newest.packageVersion,
        commitMessage: newest.commitMessage,
        manifest: newest.manifest,
        createdAt: newest.createdAt,
      },
      deployment: { id: deployment.id, slug: deployment.slug },
      liveBuild: {
        id: live.id,
        commitSha: live.commitSha,
        packageVersion: live.packageVersion,
        commitMessage: live.commitMessage,
        commitAuthor: live.commitAuthor,
        trigger: live.trigger,
        createdAt: live.createdAt,
      },
      liveSince: route.updatedAt,
      isRolledBack: isRolledBack(live),
      rolledBackFrom: rolledBackFrom(live),
    })
    .from(branch)
    .leftJoinLateral(newest, sql`true`)
    .leftJoin(route, eq(route.branchId, branch.id))
    .leftJoin(deployment, eq(deployment.id, route.deploymentId))
    .leftJoin(live, eq(live.id, deployment.buildId))
    .where(and(eq(branch.projectId, projectId), isNull(branch.endedAt)))
    .orderBy(desc(branch.isDefault), asc(branch.name));
}
