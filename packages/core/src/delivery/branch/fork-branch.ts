import type { Database, Transaction } from "@towpath/db";
import { forkPullRequest } from "@towpath/db/schema";
import { eq } from "drizzle-orm";

const prefix = "pull:";

/**
 * Name of the branch that stands for a pull request from a fork. No branch of Git is called so, because their names have
 * no colon (git-check-ref-format(1)): a branch of the repository itself is never taken for a fork, nor the reverse.
 */
export const forkBranchName = (pullRequest: number): string => `${prefix}${pullRequest}`;

/** The pull request that a branch stands for; null for a branch of the repository itself. */
export function pullRequestOfForkBranch(name: string): number | null {
  const number = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
  return Number.isSafeInteger(number) && number > 0 && forkBranchName(number) === name ? number : null;
}

/** The row of a branch that stands for a pull request from a fork; null for others. Locks it in a transaction. */
export async function findFork(db: Database | Transaction, branchId: string) {
  const [row] = await db.select().from(forkPullRequest).where(eq(forkPullRequest.branchId, branchId)).for("share");
  return row ?? null;
}
