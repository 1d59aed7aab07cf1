import { deployment } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorizeProject, type Permission, type ProjectAccess } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { isId } from "../input/index.ts";
import { deploymentView, projectIdOfDeployment, selectDeployments } from "./deployment.store.ts";
import type { DeploymentView } from "./deployment.view.ts";

/** One deployment; also the access check of its server log and of the inspector (PRJ-3, PRJ-4). */
export async function getDeployment(call: {
  ctx: Context;
  input: { readonly deploymentId: string };
}): Promise<DeploymentView> {
  const { ctx, input } = call;
  await authorizeDeployment(ctx, "project.read", input.deploymentId);
  const [row] = await selectDeployments(ctx.db, eq(deployment.id, input.deploymentId));
  if (!row) throw notFound("deployment");
  return deploymentView(ctx, row);
}

/** @throws TowpathError `not_found` naming the deployment, whether it is absent or of others. */
export async function authorizeDeployment(
  ctx: Context,
  permission: Permission,
  deploymentId: string,
): Promise<ProjectAccess> {
  const projectId = isId(deploymentId) ? await projectIdOfDeployment(ctx.db, deploymentId) : undefined;
  if (projectId === undefined) throw notFound("deployment");
  try {
    return await authorizeProject(ctx, permission, { projectId });
  } catch (error) {
    if (error instanceof TowpathError && error.code === "not_found") throw notFound("deployment");
    throw error;
  }
}
