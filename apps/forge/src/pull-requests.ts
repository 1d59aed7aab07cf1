import type { ForgeContext } from "./forge.context.ts";
import { branchCommit } from "./git/bare-repository.ts";
import { ensureDirectory } from "./repositories.ts";
import type { Account } from "./state/accounts.ts";
import {
  insertPullRequest,
  type NewPullRequest,
  openPullRequestBetween,
  type PullRequest,
  updatePullRequest,
} from "./state/pull-requests.ts";
import type { Repository } from "./state/repositories.ts";
import { enqueuePullRequestEvent } from "./webhooks/enqueue.ts";

export type PullRequestProblem = { readonly problem: string };

/** Opens a pull request between two branches, or returns why it can't. */
export async function openPullRequest(
  context: ForgeContext,
  repository: Repository,
  author: Account,
  input: NewPullRequest,
): Promise<PullRequest | PullRequestProblem> {
  const directory = await ensureDirectory(context, repository);
  const headSha = await branchCommit(directory, input.head);
  const baseSha = await branchCommit(directory, input.base);
  if (headSha === null) return { problem: `There is no branch ${input.head}.` };
  if (baseSha === null) return { problem: `There is no branch ${input.base}.` };
  if (input.head === input.base) return { problem: "Choose two different branches." };
  const pull = context.database.transaction(() => {
    if (openPullRequestBetween(context.database, repository.id, input.head, input.base)) return null;
    const row = insertPullRequest(context.database, {
      ...input,
      repositoryId: repository.id,
      authorId: author.id,
      headSha,
      baseSha,
    });
    enqueuePullRequestEvent(context, { repository, pull: row, action: "opened", sender: author });
    return row;
  });
  if (pull === null) return { problem: `A pull request from ${input.head} into ${input.base} is open already.` };
  context.deliverer.wake();
  return pull;
}

/** Closes or reopens a pull request and sends a webhook, unless it is in that state already. */
export function setPullRequestState(
  context: ForgeContext,
  repository: Repository,
  input: { pull: PullRequest; state: PullRequest["state"]; sender: Account },
): PullRequest {
  const { pull, state, sender } = input;
  if (state === pull.state) return pull;
  const changed = context.database.transaction(() => {
    const row = updatePullRequest(context.database, pull, { state });
    const action = state === "closed" ? "closed" : "reopened";
    enqueuePullRequestEvent(context, { repository, pull: row, action, sender });
    return row;
  });
  context.deliverer.wake();
  return changed;
}
