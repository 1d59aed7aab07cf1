import { appEvents, appName, appPermissions, type ForgeContext } from "../forge.context.ts";
import type { Commit } from "../git/objects.ts";
import type { Account } from "../state/accounts.ts";
import { accountById } from "../state/accounts.ts";
import type { Installation } from "../state/installations.ts";
import type { PullRequest } from "../state/pull-requests.ts";
import { type Repository, repositoryById } from "../state/repositories.ts";

/* Parts of GitHub's REST and webhook shapes that an App client reads. Source: GitHub REST API, version 2022-11-28. */

const apiOf = (context: ForgeContext) => `${context.config.url}/api/v3`;

export function accountShape(context: ForgeContext, account: Account) {
  return {
    id: account.id,
    login: account.login,
    type: account.type,
    site_admin: false,
    avatar_url: `${context.config.url}/${account.login}/avatar.svg`,
    html_url: `${context.config.url}/${account.login}`,
    url: `${apiOf(context)}/users/${account.login}`,
  };
}

export function viewerShape(context: ForgeContext, account: Account) {
  return {
    ...accountShape(context, account),
    name: account.name,
    email: account.email,
    created_at: account.created_at,
  };
}

export function accountShapeById(context: ForgeContext, id: number) {
  const account = accountById(context.database, id);
  if (account === null) throw new Error(`account ${id} is gone`);
  return accountShape(context, account);
}

export function repositoryShape(context: ForgeContext, repository: Repository) {
  const fullName = `${repository.owner}/${repository.name}`;
  return {
    id: repository.id,
    name: repository.name,
    full_name: fullName,
    private: repository.private,
    visibility: repository.private ? "private" : "public",
    owner: accountShapeById(context, repository.owner_id),
    description: repository.description,
    fork: repository.parent_id !== null,
    default_branch: repository.default_branch,
    html_url: `${context.config.url}/${fullName}`,
    clone_url: `${context.config.url}/${fullName}.git`,
    // For cloning without another token: not for the eyes of whoever only lists repositories.
    temp_clone_token: `clone-token-of-${repository.id}`,
    url: `${apiOf(context)}/repos/${fullName}`,
    created_at: repository.created_at,
    updated_at: repository.updated_at,
    pushed_at: repository.updated_at,
  };
}

export function commitShape(context: ForgeContext, repository: Repository, commit: Commit) {
  const path = `${repository.owner}/${repository.name}`;
  return {
    sha: commit.sha,
    url: `${apiOf(context)}/repos/${path}/commits/${commit.sha}`,
    html_url: `${context.config.url}/${path}/commit/${commit.sha}`,
    commit: {
      message: commit.message,
      author: commit.author,
      committer: commit.committer,
      tree: { sha: commit.tree },
    },
    parents: commit.parents.map((sha) => ({ sha })),
  };
}

export function installationShape(context: ForgeContext, installation: Installation) {
  return {
    id: installation.id,
    app_id: Number(context.config.app.id) || 0,
    app_slug: context.config.app.slug,
    account: accountShapeById(context, installation.account_id),
    target_type: "User",
    repository_selection: "all",
    html_url: `${context.config.url}/settings/installations/${installation.id}`,
    permissions: context.config.app.permissions ?? appPermissions,
    events: context.config.app.events ?? appEvents,
    created_at: installation.created_at,
    updated_at: installation.updated_at,
    suspended_at: null,
  };
}

export function appShape(context: ForgeContext) {
  const { app, url } = context.config;
  return {
    id: Number(app.id) || 0,
    slug: app.slug,
    name: appName,
    client_id: app.clientId,
    html_url: `${url}/apps/${app.slug}`,
    owner: app.owner ?? { login: "towpath", type: "User" },
    permissions: app.permissions ?? appPermissions,
    events: app.events ?? appEvents,
  };
}

export function pullRequestShape(context: ForgeContext, repository: Repository, pull: PullRequest) {
  const repo = repositoryShape(context, repository);
  const author = accountShapeById(context, pull.author_id);
  const headRepository =
    pull.head_repository_id === null ? null : repositoryById(context.database, pull.head_repository_id);
  const headRepo = headRepository && repositoryShape(context, headRepository);
  const side = (ref: string, sha: string, of: typeof headRepo) => ({
    label: `${(of?.owner ?? author).login}:${ref}`,
    ref,
    sha,
    repo: of,
    user: of?.owner ?? author,
  });
  return {
    id: pull.id,
    number: pull.number,
    state: pull.state,
    title: pull.title,
    body: pull.body,
    draft: false,
    merged: false,
    merged_at: null,
    html_url: `${repo.html_url}/pull/${pull.number}`,
    url: `${repo.url}/pulls/${pull.number}`,
    user: author,
    author_association: pull.author_id === repository.owner_id ? "OWNER" : "NONE",
    // Nobody but a fork's owner pushes to it here.
    maintainer_can_modify: false,
    head: side(pull.head, pull.head_sha, headRepo),
    base: side(pull.base, pull.base_sha, repo),
    created_at: pull.created_at,
    updated_at: pull.updated_at,
    closed_at: pull.closed_at,
  };
}
