import type { ForgeContext } from "../forge.context.ts";
import { isAncestor, listRefs, repositoryDirectory, setHead } from "../git/bare-repository.ts";
import { type Commit, listCommits } from "../git/objects.ts";
import { copyHead } from "../pull-request-head.ts";
import type { Account } from "../state/accounts.ts";
import { openPullRequestsFrom, updatePullRequest } from "../state/pull-requests.ts";
import {
  knownRefs,
  type Repository,
  repositoryById,
  setDefaultBranch,
  setKnownRef,
  touchRepository,
} from "../state/repositories.ts";
import { enqueuePullRequestEvent, enqueueRepositoryEvent } from "./enqueue.ts";

const noCommit = "0".repeat(40);
const heads = "refs/heads/";
/** GitHub's limit. Builds only use the head. */
const commitLimit = 20;

type RefChange = {
  readonly ref: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly forced: boolean;
  /** Oldest first, as GitHub lists them. */
  readonly commits: readonly Commit[];
};

async function describe(
  directory: string,
  ref: string,
  before: string | null,
  after: string | null,
): Promise<RefChange> {
  if (after === null) return { ref, before, after, forced: false, commits: [] };
  const forced = before !== null && !(await isAncestor(directory, before, after));
  const newest =
    before === null || forced
      ? await listCommits(directory, after, 1)
      : await listCommits(directory, `${before}..${after}`, commitLimit);
  return { ref, before, after, forced, commits: newest.reverse() };
}

async function findChanges(context: ForgeContext, repository: Repository, directory: string): Promise<RefChange[]> {
  const now = await listRefs(directory);
  const known = knownRefs(context.database, repository.id);
  const names = [...new Set([...now.keys(), ...known.keys()])].sort();
  const changes: RefChange[] = [];
  for (const name of names) {
    const before = known.get(name) ?? null;
    const after = now.get(name) ?? null;
    if (before !== after) changes.push(await describe(directory, name, before, after));
  }
  return changes;
}

function commitPayload(context: ForgeContext, repository: Repository, commit: Commit) {
  return {
    id: commit.sha,
    tree_id: commit.tree,
    distinct: true,
    message: commit.message,
    timestamp: commit.committer.date,
    url: `${context.config.url}/${repository.owner}/${repository.name}/commit/${commit.sha}`,
    author: { name: commit.author.name, email: commit.author.email },
    committer: { name: commit.committer.name, email: commit.committer.email },
  };
}

/** `push` for every change of a ref, plus `create` or `delete` for new and removed ones. */
function enqueueChange(context: ForgeContext, repository: Repository, pusher: Account | null, change: RefChange): void {
  const { ref, before, after, forced } = change;
  const isBranch = ref.startsWith(heads);
  const short = ref.replace(/^refs\/(heads|tags)\//, "");
  const commits = change.commits.map((commit) => commitPayload(context, repository, commit));
  const push = {
    ref,
    before: before ?? noCommit,
    after: after ?? noCommit,
    created: before === null,
    deleted: after === null,
    forced,
    base_ref: null,
    compare: `${context.config.url}/${repository.owner}/${repository.name}/commits/${short}`,
    commits,
    head_commit: commits.at(-1) ?? null,
    pusher: { name: pusher?.login ?? repository.owner, email: pusher?.email ?? null },
  };
  if (before === null || after === null) {
    const payload = { ref: short, ref_type: isBranch ? "branch" : "tag", pusher_type: "user" };
    enqueueRepositoryEvent(context, repository, pusher, { name: after === null ? "delete" : "create", payload });
  }
  enqueueRepositoryEvent(context, repository, pusher, { name: "push", payload: push });
}

const pullRequestsOf = (context: ForgeContext, repositoryId: number, { ref }: RefChange) =>
  ref.startsWith(heads) ? openPullRequestsFrom(context.database, repositoryId, ref.slice(heads.length)) : [];

/** Updates pull requests of the repository itself and of its parent. */
function updatePullRequests(
  context: ForgeContext,
  repositoryId: number,
  sender: Account | null,
  change: RefChange,
): void {
  for (const open of pullRequestsOf(context, repositoryId, change)) {
    const repository = repositoryById(context.database, open.repository_id);
    if (repository === null) continue;
    const next = change.after === null ? ({ state: "closed" } as const) : { head_sha: change.after };
    const pull = updatePullRequest(context.database, open, next);
    const action = change.after === null ? "closed" : "synchronize";
    enqueuePullRequestEvent(context, { repository, pull, action, sender });
  }
}

/** Like on GitHub, the first pushed branch becomes the default if `main` isn't among them. */
async function adoptDefaultBranch(
  context: ForgeContext,
  repository: Repository,
  changes: readonly RefChange[],
): Promise<Repository> {
  const isFirstPush = knownRefs(context.database, repository.id).size === 0;
  const branches = changes
    .filter(({ ref, after }) => after !== null && ref.startsWith(heads))
    .map(({ ref }) => ref.slice(heads.length));
  const first = branches.find((branch) => branch === "master") ?? branches[0];
  if (!isFirstPush || first === undefined || branches.includes(repository.default_branch)) return repository;
  await setHead(repositoryDirectory(context.directory, repository.id), first);
  setDefaultBranch(context.database, repository.id, first);
  return { ...repository, default_branch: first };
}

/**
 * Compares the repository's refs with those last sent, and stores a webhook for each difference together with the new
 * state. Runs after every push and, in case the forge stopped in between, at startup: every push is announced exactly
 * once.
 */
export function reconcileRefs(context: ForgeContext, repositoryId: number, pusher: Account | null): Promise<void> {
  // Serialized, so that older refs don't overwrite newer ones.
  return context.inRepository(repositoryId, async () => {
    const found = repositoryById(context.database, repositoryId);
    if (found === null) return;
    const directory = repositoryDirectory(context.directory, repositoryId);
    const changes = await findChanges(context, found, directory);
    if (changes.length === 0) return;
    const repository = await adoptDefaultBranch(context, found, changes);
    for (const change of changes) {
      if (change.after === null) continue;
      for (const open of pullRequestsOf(context, repositoryId, change)) await copyHead(context, open, change.after);
    }
    context.database.transaction(() => {
      for (const change of changes) {
        setKnownRef(context.database, repositoryId, change.ref, change.after);
        enqueueChange(context, repository, pusher, change);
        updatePullRequests(context, repositoryId, pusher, change);
      }
      touchRepository(context.database, repositoryId);
    });
    context.deliverer.wake();
  });
}
