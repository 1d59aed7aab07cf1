import { deployment } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorizeProject } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { deploymentView, selectDeployments } from "./deployment.store.ts";
import type { DeploymentView } from "./deployment.view.ts";

/** The newest deployment of a project, of whatever branch; null when there is none yet (PRJ-13). */
export async function getMostRecentDeployment(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string };
}): Promise<DeploymentView | null> {
  const { ctx, input } = call;
  const { project } = await authorizeProject(ctx, "project.read", input);
  const [row] = await selectDeployments(ctx.db, eq(deployment.projectId, project.id)).limit(1);
  return row ? deploymentView(ctx, row) : null;
}
