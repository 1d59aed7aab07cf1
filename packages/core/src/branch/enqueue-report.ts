import type { Transaction } from "@towpath/db";
import { branch, build, buildReport, gitSource, project } from "@towpath/db/schema";
import { and, eq, exists, isNotNull, or } from "drizzle-orm";
import type { Context } from "../context/index.ts";

/**
 * Enqueues the job that tells GitHub, or the host of a Git URL, how a branch and its builds are (BLD-8), for when the
 * transaction commits. Whatever changes the status of a build, what is live, or what a head waits for, calls it. Enqueues
 * nothing where nobody can be told: the server's source is a package, a repository of this instance, or a Git URL
 * without a status hook, and GitHub shows nothing of an earlier source.
 */
export async function enqueueReport(tx: Transaction, ctx: Context, branchId: string): Promise<void> {
  const told = tx
    .select({ id: build.id })
    .from(build)
    .innerJoin(buildReport, eq(buildReport.buildId, build.id))
    .where(and(eq(build.branchId, branch.id), or(isNotNull(buildReport.deploymentId), isNotNull(buildReport.check))));
  const [reader] = await tx
    .select({ id: branch.id })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .leftJoin(gitSource, eq(gitSource.projectId, project.id))
    .where(
      and(
        eq(branch.id, branchId),
        or(isNotNull(project.installationId), isNotNull(gitSource.statusKind), exists(told)),
      ),
    );
  if (reader) await ctx.queue.enqueue("branch.report", { branchId }, { key: branchId, transaction: tx });
}
