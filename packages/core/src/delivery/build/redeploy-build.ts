import type { Transaction } from "@towpath/db";
import { build, project as projects } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Call } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { requireStorageForBuilds } from "../../operations/host-storage/index.ts";
import { builtFromNow, builtFromOf, isSameSource } from "../../sources/source/internal.ts";
import { findFork } from "../branch/index.ts";
import { type BuildView, findBuildView } from "./build.view.ts";
import { authorizeBuild } from "./get-build.ts";
import { auditedVersion, type BuildRow, enqueueBuild, insertBuild, sourceOfBuild } from "./queue-build.ts";

/**
 * Builds the commit of an earlier build again, with the project's current settings, as the newest build of its branch
 * (PRJ-13). Doesn't change the earlier build.
 */
export async function redeployBuild({ ctx, input }: Call<{ readonly buildId: string }>): Promise<BuildView> {
  const { project: of, organization } = await authorizeBuild(ctx, "build.start", input.buildId);
  await requireStorageForBuilds(ctx);
  const buildId = await ctx.db.transaction(async (tx) => {
    // Lock order everywhere: project first.
    const [project] = await tx.select().from(projects).where(eq(projects.id, of.id)).for("no key update");
    if (!project) throw notFound("server");
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
    await requireSameSource(tx, project, earlier);
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

/** What is built is what the server's settings name: an earlier source isn't built again. */
async function requireSameSource(tx: Transaction, of: typeof projects.$inferSelect, earlier: BuildRow): Promise<void> {
  const now = await builtFromNow(tx, of);
  if (isSameSource(builtFromOf(earlier, of, now), now)) return;
  throw new TowpathError(
    "conflict",
    "The server's source has changed since this build, so it can't be built again. Make its deployment live instead, if it has one.",
  );
}
