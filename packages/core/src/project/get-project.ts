import { authorizeProject, type ProjectScope } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { deploymentSummary } from "../deployment/internal.ts";
import { countLiveWarnings, newestDeployments } from "./project.store.ts";
import { type ProjectDetailView, projectView } from "./project.view.ts";

const deploymentsShown = 20;

/**
 * One project, by organization and name or by id, with the actor's role (PRJ-1). This is the access check of all
 * project screens.
 *
 * @throws TowpathError `not_found` when it does not exist or is of others.
 */
export async function getProject(call: { ctx: Context; input: ProjectScope }): Promise<ProjectDetailView> {
  const { ctx, input } = call;
  const { project, organization, role } = await authorizeProject(ctx, "project.read", input);
  const [liveWarnings, deployments] = await Promise.all([
    countLiveWarnings(ctx.db, project.id),
    newestDeployments(ctx.db, project.id, deploymentsShown),
  ]);
  return {
    ...projectView(ctx, project, { orgSlug: organization.slug, liveWarnings }),
    role,
    deployments: deployments.map((row) => deploymentSummary(ctx, row.deployment, row.isLive)),
  };
}
