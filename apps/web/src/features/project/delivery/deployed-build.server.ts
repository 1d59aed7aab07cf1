import type { Context } from "@towpath/core/context";
import { getBuildByDeployment } from "@towpath/core/delivery/deployment";
import { notFound } from "@towpath/core/errors";

type Access = { readonly ctx: Context; readonly project: { readonly id: string } };

/** The build of a deployment of this project (PRJ-13). @throws TowpathError `not_found` also for another project's */
export async function deployedBuild({ ctx, project }: Access, deploymentId: string) {
  const build = await getBuildByDeployment({ ctx, input: { deploymentId } });
  if (build.project.id !== project.id) throw notFound("build");
  return build;
}
