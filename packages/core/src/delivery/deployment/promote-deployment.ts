import { build, deployment } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { ensureBranch, findFork } from "../branch/index.ts";
import { type BuildView, enqueueBuild, findBuildView, insertBuild } from "../build/internal.ts";
import { authorizeDeployment } from "./get-deployment.ts";

/**
 * Puts a preview's version into production without building it: the very layers that the preview runs, with production's
 * variables (PRJ-14). Queues a build of the default branch that has them from the start, so a worker only inspects the
 * server and rolls it out, and what is live stays until it answers (BLD-10). The preview stays too.
 *
 * `gradually`: it gets a share of the new sessions first (CAP-8).
 *
 * @throws TowpathError `conflict` for a deployment of production, and one whose build did not succeed; `not_found`
 */
export async function promoteDeployment({
  ctx,
  input,
}: Call<{ readonly deploymentId: string; readonly gradually?: boolean }>): Promise<BuildView> {
  const { project, organization } = await authorizeDeployment(ctx, "build.start", input.deploymentId);
  const buildId = await ctx.db.transaction(async (tx) => {
    // Production's branch first: everything that adds a build of it takes this lock.
    const target = { projectId: project.id, name: project.defaultBranch, isDefault: true };
    const production = await ensureBranch(tx, ctx, target);
    const [preview] = await tx
      .select({ build, environment: deployment.environment })
      .from(deployment)
      .innerJoin(build, eq(build.id, deployment.buildId))
      .where(and(eq(deployment.projectId, project.id), eq(deployment.id, input.deploymentId)))
      .for("key share");
    if (!preview) throw notFound("deployment");
    requirePromotable(preview);
    if (await findFork(tx, preview.build.branchId)) {
      throw new TowpathError(
        "conflict",
        "This preview is of a pull request from a fork. Merge the pull request to put it into production.",
      );
    }
    const { commitSha: sha, commitMessage: message, commitAuthor: author } = preview.build;
    const row = await insertBuild(tx, ctx, {
      project,
      branchId: production.id,
      commit: { sha, message, author },
      trigger: "promote",
      promoted: preview.build,
      ...(input.gradually && { isGradual: true as const }),
    });
    await enqueueBuild(tx, ctx, row.id);
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "build.promote",
      subject: row.id,
      detail: { of: preview.build.id, deployment: input.deploymentId, commit: sha },
    });
    return row.id;
  });
  return findBuildView(ctx, buildId);
}

function requirePromotable(preview: { readonly environment: string; readonly build: typeof build.$inferSelect }): void {
  if (preview.environment !== "preview") {
    throw new TowpathError("conflict", "This deployment was built for production. Make it live instead.");
  }
  if (preview.build.status !== "succeeded" || preview.build.layers === null) {
    throw new TowpathError("conflict", "This preview was never live. Rebuild its commit instead.");
  }
}
