import type { ForgeContext } from "./forge.context.ts";
import { branchCommit, copyRefs, repositoryDirectory } from "./git/bare-repository.ts";
import { copyHead } from "./pull-request-head.ts";
import { ensureDirectory } from "./repositories.ts";
import { type Account, findAccount } from "./state/accounts.ts";
import {
  insertPullRequest,
  type NewPullRequest,
  openPullRequestsFrom,
  type PullRequest,
  updatePullRequest,
} from "./state/pull-requests.ts";
import { findFork, type Repository } from "./state/repositories.ts";
import { enqueuePullRequestEvent } from "./webhooks/enqueue.ts";

export type PullRequestProblem = { readonly problem: string };

/** Resolves `branch` or `owner:branch` in a repository, or in the owner's fork of it. Null if neither has it. */
export function headOf(context: ForgeContext, repository: Repository, head: string) {
  const [owner, branch] = head.includes(":") ? (head.split(":", 2) as [string, string]) : [repository.owner, head];
  const account = findAccount(context.database, owner);
  const isOwn = account?.id === repository.owner_id;
  const found = isOwn ? repository : account && findFork(context.database, repository.id, account.id);
  return found && { repository: found, branch };
}

/**
 * Opens a pull request between two branches of a repository, or from a fork, as `owner:branch`. Returns why it can't.
 */
export async function openPullRequest(
  context: ForgeContext,
  repository: Repository,
  author: Account,
  input: NewPullRequest,
): Promise<PullRequest | PullRequestProblem> {
  const head = headOf(context, repository, input.head);
  if (head === null) return { problem: `There is no fork for ${input.head}.` };
  const directory = await ensureDirectory(context, repository);
  const headDirectory = await ensureDirectory(context, head.repository);
  const baseSha = await branchCommit(directory, input.base);
  if (baseSha === null) return { problem: `There is no branch ${input.base}.` };
  if (head.repository.id === repository.id && head.branch === input.base) {
    return { problem: "Choose two different branches." };
  }
  // Serialized with pushes to the head: the next one finds the pull request.
  return context.inRepository(head.repository.id, async () => {
    const headSha = await branchCommit(headDirectory, head.branch);
    if (headSha === null) return { problem: `There is no branch ${input.head}.` };
    const isSame = (open: PullRequest) => open.repository_id === repository.id && open.base === input.base;
    if (openPullRequestsFrom(context.database, head.repository.id, head.branch).some(isSame)) {
      return { problem: `A pull request from ${input.head} into ${input.base} is open already.` };
    }
    if (headDirectory !== directory) await copyRefs(headDirectory, directory, headSha);
    const pull = context.database.transaction(() => {
      const row = insertPullRequest(context.database, {
        ...input,
        head: head.branch,
        repositoryId: repository.id,
        headRepositoryId: head.repository.id,
        authorId: author.id,
        headSha,
        baseSha,
      });
      enqueuePullRequestEvent(context, { repository, pull: row, action: "opened", sender: author });
      return row;
    });
    await copyHead(context, pull, headSha);
    context.deliverer.wake();
    return pull;
  });
}

/**
 * Closes or reopens a pull request and sends a webhook, unless it has that state already. A reopened one gets the
 * newest commit of its branch.
 */
export async function setPullRequestState(
  context: ForgeContext,
  repository: Repository,
  input: { pull: PullRequest; state: PullRequest["state"]; sender: Account },
): Promise<PullRequest | PullRequestProblem> {
  const { pull, state, sender } = input;
  if (state === pull.state) return pull;
  const headId = pull.head_repository_id;
  return context.inRepository(headId ?? repository.id, async () => {
    let headSha: string | null = pull.head_sha;
    if (state === "open") {
      const directory = headId && repositoryDirectory(context.directory, headId);
      headSha = directory ? await branchCommit(directory, pull.head) : null;
      if (headSha === null) return { problem: `The branch ${pull.head} was deleted.` };
      await copyHead(context, pull, headSha);
    }
    const change = { state, head_sha: headSha };
    const changed = context.database.transaction(() => {
      const row = updatePullRequest(context.database, pull, change);
      const action = state === "closed" ? "closed" : "reopened";
      enqueuePullRequestEvent(context, { repository, pull: row, action, sender });
      return row;
    });
    context.deliverer.wake();
    return changed;
  });
}
