import type { Transaction } from "@towpath/db";
import { branch, branchReport, build, buildReport, forkPullRequest, project } from "@towpath/db/schema";
import { and, eq, inArray, isNotNull, notLike, or } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import type { JobPayloads } from "../../ports/index.ts";
import { builtFromNow, builtFromOf, isSameSource } from "../../sources/source/internal.ts";

/** GitHub's words for a deployment that it shows as served, or on its way. */
export const activeDeployments = ["queued", "in_progress", "success"];

export const headCheckPrefix = "head:";

/** Names the check run of a branch's head that has no build. */
export const headCheckId = (branchId: string): string => `${headCheckPrefix}${branchId}`;

type Leaving = JobPayloads["repository.leave"];

/**
 * Enqueues, for when the transaction commits, the reports to GitHub's repositories that servers leave: nothing of theirs
 * waits, runs or is served there any more. Call it while the rows are still there. `deleted`: the builds go too; otherwise
 * they are reported with their branches, until the next source's first one is live.
 */
export async function enqueueLeaving(
  tx: Transaction,
  ctx: Context,
  projectIds: readonly string[],
  { deleted }: { readonly deleted: boolean },
): Promise<void> {
  for (const of of await tx
    .select()
    .from(project)
    .where(inArray(project.id, [...projectIds]))) {
    const leaving = new Map<string, Leaving>();
    const at = (installationId: number, fullName: string, repositoryId: number): Leaving => {
      const key = `${installationId} ${fullName}`;
      const { organizationId, name } = of;
      const none = { deployments: [], checks: [], pullRequests: [] };
      const found = leaving.get(key) ?? { organizationId, name, installationId, fullName, repositoryId, ...none };
      leaving.set(key, found);
      return found;
    };
    if (deleted) await addBuilds(tx, of, at);
    await addHeads(tx, of, at);
    for (const payload of leaving.values()) {
      await ctx.queue.enqueue("repository.leave", payload, { key: newId(), transaction: tx });
    }
  }
}

type ProjectRow = typeof project.$inferSelect;
type At = (installationId: number, fullName: string, repositoryId: number) => Leaving;

async function addBuilds(tx: Transaction, of: ProjectRow, at: At): Promise<void> {
  const active = and(isNotNull(buildReport.deploymentId), inArray(buildReport.deploymentState, activeDeployments));
  const unfinished = and(isNotNull(buildReport.check), notLike(buildReport.check, "completed%"));
  const rows = await tx
    .select({ build, report: buildReport })
    .from(build)
    .innerJoin(buildReport, eq(buildReport.buildId, build.id))
    .where(and(eq(build.projectId, of.id), or(active, unfinished)));
  const now = await builtFromNow(tx, of);
  for (const { build: row, report } of rows) {
    const from = builtFromOf(row, of, now);
    const source = now !== null && isSameSource(from, now) ? now : from;
    if (source?.kind !== "github" || source.installationId === null) continue;
    const place = at(source.installationId, source.fullName, source.repositoryId);
    if (report.deploymentId !== null && activeDeployments.includes(report.deploymentState ?? "")) {
      place.deployments.push(report.deploymentId);
    }
    const isUnfinished = report.check !== null && !report.check.startsWith("completed");
    if (isUnfinished) place.checks.push({ id: report.checkRunId, sha: row.commitSha, externalId: row.id });
  }
}

/** Pull requests with a comment, and those of forks that wait for approval. */
async function addHeads(tx: Transaction, of: ProjectRow, at: At): Promise<void> {
  const now = await builtFromNow(tx, of);
  if (now?.kind !== "github" || now.installationId === null) return;
  const rows = await tx
    .select({ branch, report: branchReport, fork: forkPullRequest.state })
    .from(branch)
    .leftJoin(branchReport, eq(branchReport.branchId, branch.id))
    .leftJoin(forkPullRequest, eq(forkPullRequest.branchId, branch.id))
    .where(and(eq(branch.projectId, of.id), isNotNull(branch.pullRequestNumber)));
  for (const { branch: row, report, fork } of rows) {
    const place = at(now.installationId, now.fullName, now.repositoryId);
    if (row.pullRequestNumber !== null) place.pullRequests.push(row.pullRequestNumber);
    if (fork !== "waiting" || !report?.headCommitSha || report.headCheck === null) continue;
    place.checks.push({ id: report.headCheckRunId, sha: report.headCommitSha, externalId: headCheckId(row.id) });
  }
}
