import type { Transaction } from "@towpath/db";
import { branch, build, buildReport, gitSource, project } from "@towpath/db/schema";
import { and, eq, exists, isNotNull, or } from "drizzle-orm";
import type { Context } from "../../context/index.ts";

/**
 * Enqueues the job that reports a branch and its builds to GitHub, or to the host of a Git URL (BLD-8), for when the
 * transaction commits. Everything that changes the status of a build, what is live, or what a head waits for, calls it.
 * Enqueues nothing where there is nobody to report to: the server's source is a package, a repository of this instance, or a Git URL
 * without a status hook, and GitHub shows nothing of an earlier source.
 */
export async function enqueueReport(tx: Transaction, ctx: Context, branchId: string): Promise<void> {
  const shown = tx
    .select({ id: build.id })
    .from(build)
    .innerJoin(buildReport, eq(buildReport.buildId, build.id))
    .where(and(eq(build.branchId, branch.id), or(isNotNull(buildReport.deploymentId), isNotNull(buildReport.check))));
  const [reported] = await tx
    .select({ id: branch.id })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .leftJoin(gitSource, eq(gitSource.projectId, project.id))
    .where(
      and(
        eq(branch.id, branchId),
        or(isNotNull(project.installationId), isNotNull(gitSource.statusKind), exists(shown)),
      ),
    );
  if (reported) await ctx.queue.enqueue("branch.report", { branchId }, { key: branchId, transaction: tx });
}
