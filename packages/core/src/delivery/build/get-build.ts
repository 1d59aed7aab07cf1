import { branch, build, deployment } from "@towpath/db/schema";
import { and, eq, isNotNull } from "drizzle-orm";
import { authorizeProject, type Permission } from "../../authorize/index.ts";
import type { Call, Context, ProjectAccess } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { isId, parseInput } from "../../input/index.ts";
import { type ListBuildsInput, listBuildsSchema } from "./build.schema.ts";
import { olderThan, projectIdOfBuild, selectBuildSummaries, selectBuildSummariesWithManifests } from "./build.store.ts";
import { type BuildPage, type BuildView, buildSummary, findBuildView } from "./build.view.ts";
import { readManifest } from "./stored-build.ts";

/** One build with its manifest (PRJ-3). */
export async function getBuild(call: Call<{ readonly buildId: string }>): Promise<BuildView> {
  await authorizeBuild(call.ctx, "build.read", call.input.buildId);
  return findBuildView(call.ctx, call.input.buildId);
}

/**
 * Checks access to the project of a build.
 *
 * @throws TowpathError `not_found` naming the build, whether it doesn't exist or belongs to others
 */
export async function authorizeBuild(ctx: Context, permission: Permission, buildId: string): Promise<ProjectAccess> {
  const projectId = isId(buildId) ? await projectIdOfBuild(ctx.db, buildId) : undefined;
  if (projectId === undefined) throw notFound("build");
  try {
    return await authorizeProject(ctx, permission, { projectId });
  } catch (error) {
    // The text must be the same as for a build that doesn't exist.
    if (error instanceof TowpathError && error.code === "not_found") throw notFound("build");
    throw error;
  }
}

/**
 * A page of a project's builds, newest first; `hasMore`: there is another page (PRJ-2).
 *
 * @throws TowpathError `not_found` for a branch that the project doesn't have
 */
export async function listBuilds(call: Call<ListBuildsInput>): Promise<BuildPage> {
  const { ctx } = call;
  const { project } = await authorizeProject(ctx, "build.read", {
    orgSlug: call.input.orgSlug,
    projectName: call.input.projectName,
  });
  const { limit, offset, withManifests, ...filter } = parseInput(listBuildsSchema, call.input);
  const where = and(
    eq(build.projectId, project.id),
    filter.after === undefined ? undefined : olderThan(filter.after),
    filter.branch === undefined ? undefined : eq(build.branchId, await branchIdOf(ctx, project.id, filter.branch)),
    filter.deployed ? isNotNull(deployment.id) : undefined,
  );
  if (withManifests) {
    const rows = await selectBuildSummariesWithManifests(ctx.db, where)
      .limit(limit + 1)
      .offset(offset);
    const data = rows.slice(0, limit).map((row) => ({
      ...buildSummary(ctx, row),
      manifest: readManifest(row.build.manifest),
    }));
    return { data, hasMore: rows.length > limit };
  }
  const rows = await selectBuildSummaries(ctx.db, where)
    .limit(limit + 1)
    .offset(offset);
  return { data: rows.slice(0, limit).map((row) => buildSummary(ctx, row)), hasMore: rows.length > limit };
}

async function branchIdOf(ctx: Context, projectId: string, name: string): Promise<string> {
  const ofProject = and(eq(branch.projectId, projectId), eq(branch.name, name));
  const [row] = await ctx.db.select({ id: branch.id }).from(branch).where(ofProject);
  if (!row) throw notFound("branch");
  return row.id;
}
