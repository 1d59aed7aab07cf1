import { build, type project } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import { findFork } from "../branch/index.ts";
import type { Context } from "../context/index.ts";
import { notFound, TowpathError } from "../errors/index.ts";
import { requireStorageForBuilds } from "../host-storage/index.ts";
import { versionCommit } from "../package/internal.ts";
import { sourceOf } from "../source/internal.ts";
import { type BuildView, findBuildView } from "./build.view.ts";
import { authorizeBuild } from "./get-build.ts";
import { auditedVersion, type BuildRow, enqueueBuild, insertBuild, sourceOfBuild } from "./queue-build.ts";

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
    const fork = await findFork(tx, earlier.branchId);
    if (fork && (fork.state !== "approved" || fork.commitSha !== earlier.commitSha)) {
      throw new TowpathError(
        "conflict",
        "This build is of a pull request from a fork, whose newest commit isn't this one or isn't approved. Approve the newest commit instead.",
      );
    }
    requireSameSource(project, earlier);
    const row = await insertBuild(tx, ctx, {
      project,
      branchId: earlier.branchId,
      commit: sourceOfBuild(earlier),
      trigger: "redeploy",
    });
    await enqueueBuild(tx, ctx, row.id);
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "build.redeploy",
      subject: row.id,
      detail: { of: earlier.id, ...auditedVersion(earlier) },
    });
    return row.id;
  });
  return findBuildView(ctx, buildId);
}

/** A package's version can't be built from a repository or another package, nor the reverse. A commit of another repository isn't found. */
function requireSameSource(of: typeof project.$inferSelect, { commitSha, packageVersion: version }: BuildRow): void {
  const source = sourceOf(of);
  const name = source?.kind === "package" ? source.name : null;
  if (name === null && version === null) return;
  if (name !== null && version !== null && versionCommit(name, version).sha === commitSha) return;
  throw new TowpathError(
    "conflict",
    "The server's source has changed since this build, so it can't be built again. Make its deployment live instead, if it has one.",
  );
}
