import type { ForgeContext } from "./forge.context.ts";
import {
  branchCommit,
  copyRefs,
  initRepository,
  listRefs,
  repositoryDirectory,
  setHead,
} from "./git/bare-repository.ts";
import { updateRef, writeBlob, writeCommit, writeTree } from "./git/objects.ts";
import type { Account } from "./state/accounts.ts";
import {
  findFork,
  insertRepository,
  type Repository,
  renameRepository,
  repositoryById,
  setDefaultBranch,
  setKnownRef,
} from "./state/repositories.ts";
import { enqueueRepositoryEvent } from "./webhooks/enqueue.ts";
import { reconcileRefs } from "./webhooks/reconcile-refs.ts";

export type NewRepository = {
  readonly name: string;
  readonly description: string | null;
  readonly private: boolean;
  /** Start with a commit that contains a README. */
  readonly withReadme: boolean;
};

export function authorOf(account: Account): { name: string; email: string } {
  return { name: account.name ?? account.login, email: account.email ?? `${account.login}@users.noreply.localhost` };
}

async function commitReadme(directory: string, owner: Account, input: NewRepository): Promise<void> {
  const text = `# ${input.name}\n${input.description ? `\n${input.description}\n` : ""}`;
  const sha = await writeBlob(directory, text);
  const tree = await writeTree(directory, [{ path: "README.md", mode: "100644", sha }]);
  const commit = await writeCommit(directory, {
    tree,
    parents: [],
    message: "Initial commit",
    author: authorOf(owner),
  });
  await updateRef(directory, "refs/heads/main", commit, null);
}

/** Null if the account already has one of this name. */
export async function createRepository(
  context: ForgeContext,
  owner: Account,
  input: NewRepository,
): Promise<Repository | null> {
  const repository = insertRepository(context.database, { ...input, ownerId: owner.id });
  if (repository === null) return null;
  const directory = await ensureDirectory(context, repository);
  if (input.withReadme) {
    await commitReadme(directory, owner, input);
    await reconcileRefs(context, repository.id, owner);
  }
  return repository;
}

/**
 * The account's fork of a repository, made if it doesn't exist. Null if the account has another repository of this
 * name. As on GitHub, its initial commits are not announced as a push.
 */
export async function forkRepository(
  context: ForgeContext,
  parent: Repository,
  owner: Account,
): Promise<Repository | null> {
  const { database } = context;
  const known = findFork(database, parent.id, owner.id);
  if (known) return known;
  const { name, description, private: isPrivate } = parent;
  const fork = insertRepository(database, {
    ownerId: owner.id,
    name,
    description,
    private: isPrivate,
    parent,
  });
  if (fork === null) return null;
  const parentDirectory = await ensureDirectory(context, parent);
  const directory = await ensureDirectory(context, fork);
  await copyRefs(parentDirectory, directory, "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*");
  await setHead(directory, parent.default_branch);
  for (const [ref, sha] of await listRefs(directory)) setKnownRef(database, fork.id, ref, sha);
  return fork;
}

export type RepositoryChange = { readonly name?: string | undefined; readonly default_branch?: string | undefined };

/**
 * Renames a repository or changes its default branch, and sends a webhook for each. Unlike GitHub, the forge does not
 * redirect from a former name.
 */
export async function changeRepository(
  context: ForgeContext,
  before: Repository,
  input: { readonly change: RepositoryChange; readonly sender: Account },
): Promise<Repository | { readonly problem: string }> {
  const { database } = context;
  const { name = before.name, default_branch: branch = before.default_branch } = input.change;
  const directory = await ensureDirectory(context, before);
  if (branch !== before.default_branch) {
    if ((await branchCommit(directory, branch)) === null) return { problem: `There is no branch ${branch}.` };
    await setHead(directory, branch);
  }
  const changed = database.transaction(() => {
    if (name !== before.name && !renameRepository(database, before.id, name)) return null;
    if (branch !== before.default_branch) setDefaultBranch(database, before.id, branch);
    const row = repositoryById(database, before.id);
    if (row) tellChanges(context, before, row, input.sender);
    return row;
  });
  if (changed === null) return { problem: "name already exists on this account" };
  context.deliverer.wake();
  return changed;
}

function tellChanges(context: ForgeContext, before: Repository, now: Repository, sender: Account): void {
  if (now.name !== before.name) {
    const payload = { changes: { repository: { name: { from: before.name } } } };
    enqueueRepositoryEvent(context, now, sender, { name: "repository", action: "renamed", payload });
  }
  if (now.default_branch !== before.default_branch) {
    const payload = { changes: { default_branch: { from: before.default_branch } } };
    enqueueRepositoryEvent(context, now, sender, { name: "repository", action: "edited", payload });
  }
}

/** The directory of a repository; creates it if needed. */
export async function ensureDirectory(context: ForgeContext, repository: Repository): Promise<string> {
  const directory = repositoryDirectory(context.directory, repository.id);
  await context.inRepository(repository.id, () => initRepository(directory));
  return directory;
}
