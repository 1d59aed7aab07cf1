import { deployment } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { selectBuilds } from "../build/build.store.ts";
import type { BuildView } from "../build/build.view.ts";
import { buildView } from "../build/build-view.ts";
import type { Context } from "../context/index.ts";
import { notFound } from "../errors/index.ts";
import { authorizeDeployment } from "./get-deployment.ts";

/** The build that a deployment was made from (PRJ-13). */
export async function getBuildByDeployment(call: {
  ctx: Context;
  input: { readonly deploymentId: string };
}): Promise<BuildView> {
  const { ctx, input } = call;
  await authorizeDeployment(ctx, "build.read", input.deploymentId);
  const [row] = await selectBuilds(ctx.db, eq(deployment.id, input.deploymentId)).limit(1);
  if (!row || row.build.id !== row.deployment?.buildId) throw notFound("build");
  return buildView(ctx, row);
}
