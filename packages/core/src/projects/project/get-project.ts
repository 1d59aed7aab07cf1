import { project as projects } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import {
  authorize,
  authorizeProject,
  authorizeVisible,
  type ProjectScope,
  requireUser,
} from "../../authorize/index.ts";
import { mayCallServer } from "../../calling/access/internal.ts";
import type { Call, Context } from "../../context/index.ts";
import { buildStatusSchema } from "../../delivery/build/build-contract.schema.ts";
import { deploymentSummary } from "../../delivery/deployment/internal.ts";
import { notFound } from "../../errors/index.ts";
import { isId, parseInput } from "../../input/index.ts";
import { findDataUsage } from "../../operations/data-volume/index.ts";
import { recordLookAtGitHub } from "../../sources/github-check/internal.ts";
import { recordLook, sourceOf } from "../../sources/source/internal.ts";
import { isNamed } from "../label/index.ts";
import { type ListProjectsInput, projectListSchema } from "./project.schema.ts";
import {
  findProjectState,
  listProjectRows,
  liveDeployments,
  newestDeployments,
  organizationsOf,
  type ProjectFilter,
  selectProjectIds,
} from "./project.store.ts";
import { type ProjectDetailView, type ProjectListItem, projectView } from "./project.view.ts";

const deploymentsShown = 20;

/**
 * One project, by organization and name or by id, with the actor's role (PRJ-1).
 *
 * @throws TowpathError `not_found` when it doesn't exist or belongs to others
 */
export async function getProject({ ctx, input }: Call<ProjectScope>): Promise<ProjectDetailView> {
  const { project, organization, role } = await authorizeProject(ctx, "project.read", input);
  const [state, deployments, mayCall, data] = await Promise.all([
    findProjectState(ctx.db, project),
    newestDeployments(ctx.db, project.id, deploymentsShown),
    mayCallServer(ctx, { project, role }),
    findDataUsage(ctx.db, project.id),
    ...(sourceOf(project)?.kind === "git" ? [recordLook(ctx, project.id)] : []),
    ...(sourceOf(project)?.kind === "github" ? [recordLookAtGitHub(ctx, project.id)] : []),
  ]);
  return {
    ...projectView(ctx, project, { orgSlug: organization.slug, ...state }),
    role,
    mayCall,
    data,
    deployments: deployments.map((row) => deploymentSummary(ctx, row.deployment, row.isLive)),
  };
}

/**
 * A project by its name, a former one or its id alone, which are unique on the instance: for the operator, who acts in
 * every organization, and for API keys, which find those of their own organization. Null when there is none.
 */
export async function findProjectOfInstance(call: Call<{ readonly name: string }>): Promise<ProjectDetailView | null> {
  const { ctx, input } = call;
  const { actor } = ctx;
  if (actor.kind !== "operator" && actor.kind !== "apiKey") return null;
  // Names are shorter than ids.
  const isIt = isId(input.name) ? eq(projects.id, input.name) : isNamed(input.name);
  const isOwn = actor.kind === "apiKey" ? eq(projects.organizationId, actor.organizationId) : undefined;
  const [found] = await ctx.db.select({ id: projects.id }).from(projects).where(and(isIt, isOwn));
  if (!found || (actor.kind === "apiKey" && actor.projectIds?.includes(found.id) === false)) return null;
  return getProject({ ctx, input: { projectId: found.id } });
}

/**
 * The projects of an organization in the order of their names, with the filters of the servers screen (ORG-2). An API key
 * that is limited to some servers gets those.
 */
export async function listProjects(call: Call<ListProjectsInput>): Promise<readonly ProjectListItem[]> {
  const { ctx } = call;
  const { organization, isVisible } = await authorizeVisible(ctx, "project.read", { orgSlug: call.input.orgSlug });
  const items = await listItems(ctx, [organization.id], parseInput(projectListSchema, call.input));
  return items.filter(({ id }) => isVisible(id));
}

/**
 * The projects of all organizations that the signed-in user is a member of, by name (PRJ-16).
 *
 * @throws TowpathError `not_found` for another `userId` than their own
 */
export async function listProjectsOfUser(call: {
  ctx: Context;
  input?: { readonly userId: string };
}): Promise<readonly ProjectListItem[]> {
  const { ctx, input } = call;
  const userId = requireUser(ctx);
  if (input && input.userId !== userId) throw notFound("user");
  return listItems(ctx, await organizationsOf(ctx.db, userId), projectListSchema.parse({}));
}

/** Those of the given ids that are projects of the organization. */
export async function ownProjectIds({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly projectIds: readonly string[] }>): Promise<readonly string[]> {
  const { organization } = await authorize(ctx, "project.read", { orgSlug: input.orgSlug });
  return selectProjectIds(ctx.db, organization.id, input.projectIds);
}

async function listItems(
  ctx: Context,
  organizationIds: readonly string[],
  filter: ProjectFilter,
): Promise<readonly ProjectListItem[]> {
  const rows = await listProjectRows(ctx.db, organizationIds, filter);
  const ids = rows.map(({ project }) => project.id);
  const live = Map.groupBy(await liveDeployments(ctx.db, ids), ({ deployment }) => deployment.projectId);
  return rows.map((row) => ({
    ...projectView(ctx, row.project, {
      orgSlug: row.orgSlug,
      live: row.live.warnings === null ? null : { ...row.live, instance: row.instanceState },
      external: row.external,
      git: row.git,
    }),
    deployments: (live.get(row.project.id) ?? []).map(({ deployment }) => deploymentSummary(ctx, deployment, true)),
    latestBuild: row.latestBuild && {
      ...row.latestBuild,
      status: buildStatusSchema.parse(row.latestBuild.status),
      createdAt: row.latestBuild.createdAt.toISOString(),
    },
    waitingForkPullRequests: row.waitingForks,
    live: row.live.buildId === null ? null : { buildId: row.live.buildId, tools: row.live.tools },
  }));
}
