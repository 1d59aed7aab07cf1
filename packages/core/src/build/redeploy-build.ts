import { build } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import type { Context } from "../context/index.ts";
import { notFound } from "../errors/index.ts";
import { requireStorageForBuilds } from "../host-storage/index.ts";
import { type BuildView, findBuildView } from "./build.view.ts";
import { authorizeBuild } from "./get-build.ts";
import { enqueueBuild, insertBuild } from "./queue-build.ts";

/**
 * Builds the commit of an earlier build again, with the project's current settings, as the newest build of its branch
 * (PRJ-13). Doesn't change the earlier build.
 */
export async function redeployBuild(call: { ctx: Context; input: { readonly buildId: string } }): Promise<BuildView> {
  const { ctx, input } = call;
  const { project, organization } = await authorizeBuild(ctx, "build.start", input.buildId);
  await requireStorageForBuilds(ctx);
  const buildId = await ctx.db.transaction(async (tx) => {
    const [earlier] = await tx
      .select()
      .from(build)
      .where(and(eq(build.projectId, project.id), eq(build.id, input.buildId)));
    if (!earlier) throw notFound("build");
    const row = await insertBuild(tx, ctx, {
      project,
      branchId: earlier.branchId,
      commit: { sha: earlier.commitSha, message: earlier.commitMessage, author: earlier.commitAuthor },
      trigger: "redeploy",
    });
    await enqueueBuild(tx, ctx, row.id);
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "build.redeploy",
      subject: row.id,
      detail: { of: earlier.id, commit: earlier.commitSha },
    });
    return row.id;
  });
  return findBuildView(ctx, buildId);
}
