import type { Transaction } from "@towpath/db";
import { branch, forkPullRequest, type project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";
import { type BranchRow, enqueueReport } from "../../delivery/branch/index.ts";
import { supersedeQueued } from "../../delivery/build/internal.ts";
import type { ForkAtGitHub } from "../../ports/index.ts";
import type { Commit } from "../../projects/project/project.schema.ts";

type Target = {
  readonly project: typeof project.$inferSelect;
  readonly branch: BranchRow;
  readonly fork: ForkAtGitHub;
  readonly head: Commit;
};

/**
 * Brings an open pull request from a fork to its head (BLD-9). A head that nobody has decided about waits: nothing is
 * built, and builds of earlier heads that are still queued are canceled. What was approved stays so for that very commit,
 * until the pull request is closed.
 */
export async function settleFork(tx: Transaction, ctx: Context, target: Target): Promise<"waiting" | "unchanged"> {
  const { project: of, branch: own, fork, head } = target;
  const seen = {
    repositoryId: fork.repositoryId,
    repositoryFullName: fork.repositoryFullName,
    headBranch: fork.headBranch,
    author: fork.author.slice(0, 200),
    title: fork.title.slice(0, 500),
  };
  const [known] = await tx.select().from(forkPullRequest).where(eq(forkPullRequest.branchId, own.id)).for("update");
  if (known?.commitSha === head.sha && known.state !== "closed") {
    await tx.update(forkPullRequest).set(seen).where(eq(forkPullRequest.branchId, own.id));
    return "unchanged";
  }
  const waiting = {
    ...seen,
    commitSha: head.sha,
    commitMessage: head.message,
    commitAuthor: head.author,
    state: "waiting",
    waitingSince: ctx.clock.now(),
    decidedByUserId: null,
    decidedAt: null,
  };
  await tx
    .insert(forkPullRequest)
    .values({ branchId: own.id, ...waiting })
    .onConflictDoUpdate({ target: forkPullRequest.branchId, set: waiting });
  if (own.endedAt) await tx.update(branch).set({ endedAt: null }).where(eq(branch.id, own.id));
  await supersedeQueued(tx, ctx, own.id, "Canceled: the pull request has a newer commit, which waits for approval.");
  await enqueueReport(tx, ctx, own.id);
  await audit(tx, ctx, {
    organizationId: of.organizationId,
    projectId: of.id,
    action: "fork.wait",
    subject: own.name,
    detail: { commit: head.sha, repository: fork.repositoryFullName, author: seen.author },
  });
  return "waiting";
}

/** The pull request is closed, or gone: an approval ends with it. */
export async function closeFork(tx: Transaction, branchId: string): Promise<void> {
  await tx.update(forkPullRequest).set({ state: "closed" }).where(eq(forkPullRequest.branchId, branchId));
}
