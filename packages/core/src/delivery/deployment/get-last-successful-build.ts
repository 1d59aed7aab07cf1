import { branch, build, route } from "@towpath/db/schema";
import { and, eq, isNotNull } from "drizzle-orm";
import { authorizeProject } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { isId } from "../../input/index.ts";
import { type BuildView, buildView, selectBuilds } from "../build/internal.ts";

type ProjectName = { readonly orgSlug: string; readonly projectName: string };

/** The newest successful build of the default branch, else of any branch; null when there is none (PRJ-13). */
export async function getLastSuccessfulBuild({ ctx, input }: Call<ProjectName>): Promise<BuildView | null> {
  const { project } = await authorizeProject(ctx, "build.read", input);
  const succeeded = and(eq(build.projectId, project.id), eq(build.status, "succeeded"));
  const [production] = await selectBuilds(ctx.db, and(succeeded, eq(branch.isDefault, true))).limit(1);
  const [row] = production ? [production] : await selectBuilds(ctx.db, succeeded).limit(1);
  return row ? buildView(ctx, row) : null;
}

/** The newest successful build of a branch; null when there is none, or no such branch (PRJ-13). */
export async function getLastSuccessfulBuildByBranch({
  ctx,
  input,
}: Call<ProjectName & { readonly branchId: string }>): Promise<BuildView | null> {
  const { project } = await authorizeProject(ctx, "build.read", input);
  if (!isId(input.branchId)) return null;
  const [row] = await selectBuilds(
    ctx.db,
    and(eq(build.projectId, project.id), eq(build.status, "succeeded"), eq(build.branchId, input.branchId)),
  ).limit(1);
  return row ? buildView(ctx, row) : null;
}

/**
 * The build of a branch's live deployment, which after a rollback isn't the newest; the newest successful one while
 * nothing is live; null when there is none. `branchId`: null for the default branch, with which any branch will do while
 * it has none. The project's pages list its manifest (PRJ-4, PRJ-7).
 */
export async function getCurrentBuild({
  ctx,
  input,
}: Call<ProjectName & { readonly branchId: string | null }>): Promise<BuildView | null> {
  const { orgSlug, projectName, branchId } = input;
  const { project } = await authorizeProject(ctx, "build.read", input);
  if (branchId !== null && !isId(branchId)) return null;
  const ofBranch = branchId === null ? eq(branch.isDefault, true) : eq(build.branchId, branchId);
  const live = and(eq(build.projectId, project.id), isNotNull(route.deploymentId), ofBranch);
  const [row] = await selectBuilds(ctx.db, live).limit(1);
  if (row) return buildView(ctx, row);
  return branchId === null
    ? getLastSuccessfulBuild({ ctx, input: { orgSlug, projectName } })
    : getLastSuccessfulBuildByBranch({ ctx, input: { orgSlug, projectName, branchId } });
}
