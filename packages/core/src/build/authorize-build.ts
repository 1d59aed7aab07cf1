import { authorizeProject, type Permission, type ProjectAccess } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { isId } from "../input/index.ts";
import { projectIdOfBuild } from "./build.store.ts";

/**
 * Checks access to the project of a build.
 *
 * @throws TowpathError `not_found` naming the build, whether it is absent or of others.
 */
export async function authorizeBuild(ctx: Context, permission: Permission, buildId: string): Promise<ProjectAccess> {
  const projectId = isId(buildId) ? await projectIdOfBuild(ctx.db, buildId) : undefined;
  if (projectId === undefined) throw notFound("build");
  try {
    return await authorizeProject(ctx, permission, { projectId });
  } catch (error) {
    // The text must not tell an absent build from one of others.
    if (error instanceof TowpathError && error.code === "not_found") throw notFound("build");
    throw error;
  }
}
