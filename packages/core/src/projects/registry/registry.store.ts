import type { Database } from "@towpath/db";
import { branch, build, deployment, externalServer, project, route } from "@towpath/db/schema";
import { and, asc, desc, eq, gt, gte, ilike, or, type SQL, sql } from "drizzle-orm";
import { isNamed } from "../label/index.ts";

/** What every query of the registry starts with: nothing else may be seen by strangers. */
const isPublic = eq(project.isPublic, true);

const named = (name: string) => eq(sql`lower(${project.name})`, name.toLowerCase());

/**
 * A public project, by its name or a former one, with what is live in production, a build or a server elsewhere; null for
 * one that is private or doesn't exist.
 */
export async function findPublicProject(db: Database, name: string) {
  const live = db
    .select({ manifest: build.manifest, iconHash: build.iconHash, at: deployment.createdAt })
    .from(route)
    .innerJoin(branch, eq(branch.id, route.branchId))
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(and(eq(route.projectId, project.id), eq(branch.isDefault, true)))
    .limit(1)
    .as("live");
  const [row] = await db
    .select({
      project,
      live: { manifest: live.manifest, iconHash: live.iconHash, at: live.at },
      external: {
        manifest: externalServer.manifest,
        iconHash: externalServer.iconHash,
        at: externalServer.manifestAt,
      },
    })
    .from(project)
    .leftJoinLateral(live, sql`true`)
    .leftJoin(externalServer, eq(externalServer.projectId, project.id))
    .where(and(isPublic, isNamed(name)));
  return row ? { project: row.project, ...(row.external?.at ? row.external : row.live) } : null;
}

/** Names of public projects that are live, with the time of their last change, in the order of their names. */
export function listPublicNames(db: Database, limit: number) {
  return db
    .select({ name: project.name, updatedAt })
    .from(project)
    .innerJoin(branch, and(eq(branch.projectId, project.id), eq(branch.isDefault, true)))
    .innerJoin(route, eq(route.branchId, branch.id))
    .where(isPublic)
    .orderBy(asc(sql`lower(${project.name})`))
    .limit(limit);
}

/** `date` columns in raw SQL come as text. */
const instant = (expression: SQL) => sql<Date>`${expression}`.mapWith((text: string) => new Date(text));

const updatedAt = instant(sql`greatest(${project.updatedAt}, ${route.updatedAt})`).as("registry_updated_at");
const versionUpdatedAt = instant(
  sql`greatest(${project.updatedAt}, ${deployment.createdAt}, CASE WHEN ${route.deploymentId} = ${deployment.id} THEN ${route.updatedAt} END)`,
);

export type VersionFilter = {
  readonly name?: string;
  /** Part of a name. */
  readonly search?: string;
  readonly updatedSince?: Date;
  /** `latest`: what is live. Else the order of the version's build on its branch. */
  readonly version?: "latest" | number;
  /** Start after this one. */
  readonly after?: { readonly name: string; readonly sequence: number };
  readonly limit: number;
};

/**
 * Production deployments of public projects that are live, as versions: by name, newest first. A version that is not live
 * any more is kept as long as its deployment.
 */
export function listVersions(db: Database, { name, search, updatedSince, version, after, limit }: VersionFilter) {
  const lowerName = sql`lower(${project.name})`;
  const isLatest = sql<boolean>`(${route.deploymentId} = ${deployment.id})`;
  return db
    .select({
      project,
      manifest: build.manifest,
      sequence: build.sequence,
      publishedAt: deployment.createdAt,
      updatedAt: versionUpdatedAt.as("version_updated_at"),
      isLatest: isLatest.as("is_latest"),
    })
    .from(deployment)
    .innerJoin(project, eq(project.id, deployment.projectId))
    .innerJoin(branch, and(eq(branch.id, deployment.branchId), eq(branch.isDefault, true)))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(route, eq(route.branchId, branch.id))
    .where(
      and(
        isPublic,
        name === undefined ? undefined : named(name),
        // Escapes LIKE's wildcards in the text.
        search ? ilike(project.name, `%${search.replace(/[\\%_]/g, "\\$&")}%`) : undefined,
        updatedSince && gte(versionUpdatedAt, updatedSince.toISOString()),
        version === "latest" ? isLatest : undefined,
        typeof version === "number" ? eq(build.sequence, version) : undefined,
        after &&
          or(
            gt(lowerName, after.name),
            and(sql`${lowerName} = ${after.name}`, sql`${build.sequence} < ${after.sequence}`),
          ),
      ),
    )
    .orderBy(asc(lowerName), desc(build.sequence))
    .limit(limit);
}
