import { branch, build } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { authorizeProject } from "../authorize/index.ts";
import { type BuildView, buildView, selectBuilds } from "../build/internal.ts";
import type { Context } from "../context/index.ts";
import { isId } from "../input/index.ts";

type ProjectName = { readonly orgSlug: string; readonly projectName: string };

/**
 * The newest successful build of the default branch, else of any branch; null when there is none (PRJ-13). The
 * project's pages list its manifest.
 */
export async function getLastSuccessfulBuild(call: { ctx: Context; input: ProjectName }): Promise<BuildView | null> {
  const { ctx, input } = call;
  const { project } = await authorizeProject(ctx, "build.read", input);
  const succeeded = and(eq(build.projectId, project.id), eq(build.status, "succeeded"));
  const [production] = await selectBuilds(ctx.db, and(succeeded, eq(branch.isDefault, true))).limit(1);
  const [row] = production ? [production] : await selectBuilds(ctx.db, succeeded).limit(1);
  return row ? buildView(ctx, row) : null;
}

/** The newest successful build of a branch; null when there is none, or no such branch (PRJ-13). */
export async function getLastSuccessfulBuildByBranch(call: {
  ctx: Context;
  input: ProjectName & { readonly branchId: string };
}): Promise<BuildView | null> {
  const { ctx, input } = call;
  const { project } = await authorizeProject(ctx, "build.read", input);
  if (!isId(input.branchId)) return null;
  const [row] = await selectBuilds(
    ctx.db,
    and(eq(build.projectId, project.id), eq(build.status, "succeeded"), eq(build.branchId, input.branchId)),
  ).limit(1);
  return row ? buildView(ctx, row) : null;
}
