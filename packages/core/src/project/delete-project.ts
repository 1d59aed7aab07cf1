import { build, buildLog, project } from "@towpath/db/schema";
import { and, eq, inArray } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import { authorizeProject } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";

/** Deletes a project with its branches, builds, deployments and routes; its URLs end at once. */
export async function deleteProject(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string };
}): Promise<{ readonly id: string }> {
  const { ctx, input } = call;
  const { project: found, organization } = await authorizeProject(ctx, "project.delete", input);
  await ctx.db.transaction(async (tx) => {
    // Build logs carry no foreign key. Request and server logs leave with their day.
    await tx
      .delete(buildLog)
      .where(inArray(buildLog.buildId, tx.select({ id: build.id }).from(build).where(eq(build.projectId, found.id))));
    await tx.delete(project).where(and(eq(project.organizationId, organization.id), eq(project.id, found.id)));
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: found.id,
      action: "project.delete",
      subject: found.name,
    });
  });
  return { id: found.id };
}
