import { build } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorizeProject, type Permission, type ProjectAccess } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { isId, parseInput } from "../input/index.ts";
import { type ListBuildsInput, listBuildsSchema } from "./build.schema.ts";
import { projectIdOfBuild, selectBuildSummaries, selectBuildSummariesWithManifests } from "./build.store.ts";
import { type BuildPage, type BuildView, buildSummary, findBuildView } from "./build.view.ts";
import { readManifest } from "./stored-build.ts";

/** One build with its manifest (PRJ-3). */
export async function getBuild(call: { ctx: Context; input: { readonly buildId: string } }): Promise<BuildView> {
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

/** A page of a project's builds, newest first; `hasMore`: there is another page (PRJ-2). */
export async function listBuilds(call: { ctx: Context; input: ListBuildsInput }): Promise<BuildPage> {
  const { ctx } = call;
  const { project } = await authorizeProject(ctx, "build.read", {
    orgSlug: call.input.orgSlug,
    projectName: call.input.projectName,
  });
  const { limit, offset, withManifests } = parseInput(listBuildsSchema, call.input);
  const ofProject = eq(build.projectId, project.id);
  if (withManifests) {
    const rows = await selectBuildSummariesWithManifests(ctx.db, ofProject)
      .limit(limit + 1)
      .offset(offset);
    const data = rows.slice(0, limit).map((row) => ({
      ...buildSummary(ctx, row),
      manifest: readManifest(row.build.manifest),
    }));
    return { data, hasMore: rows.length > limit };
  }
  const rows = await selectBuildSummaries(ctx.db, ofProject)
    .limit(limit + 1)
    .offset(offset);
  return { data: rows.slice(0, limit).map((row) => buildSummary(ctx, row)), hasMore: rows.length > limit };
}
