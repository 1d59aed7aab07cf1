import { build } from "@towpath/db/schema";
import { and, eq, inArray } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Call } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { enqueueReport } from "../branch/index.ts";
import { expectedBefore } from "./build.state.ts";
import { lastPhase, writeToBuildLog } from "./build.store.ts";
import { type BuildView, findBuildView } from "./build.view.ts";
import { authorizeBuild } from "./get-build.ts";
import { auditedVersion } from "./queue-build.ts";

/**
 * Ends a build that waits or runs, at once (BLD-13). Its worker stops with its next write or heartbeat, whichever is
 * first, and can change nothing any more. What is live stays.
 *
 * @throws TowpathError `conflict` for a build that has ended
 */
export async function cancelBuild({ ctx, input }: Call<{ readonly buildId: string }>): Promise<BuildView> {
  const { project, organization } = await authorizeBuild(ctx, "build.start", input.buildId);
  await ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    const [canceled] = await tx
      .update(build)
      .set({ status: "canceled", endedAt: now, updatedAt: now })
      .where(
        and(
          eq(build.projectId, project.id),
          eq(build.id, input.buildId),
          inArray(build.status, [...expectedBefore("canceled")]),
        ),
      )
      .returning({
        id: build.id,
        branchId: build.branchId,
        commitSha: build.commitSha,
        packageVersion: build.packageVersion,
      });
    if (!canceled) throw new TowpathError("conflict", "This build has already ended.");
    await enqueueReport(tx, ctx, canceled.branchId);
    const phase = await lastPhase(tx, canceled.id);
    await writeToBuildLog(tx, canceled.id, now, {
      phase,
      kind: "warning",
      text: "Canceled by an organization member.",
    });
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "build.cancel",
      subject: canceled.id,
      detail: auditedVersion(canceled),
    });
  });
  return findBuildView(ctx, input.buildId);
}
