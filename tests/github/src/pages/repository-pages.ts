import { Hono } from "hono";
import { html } from "hono/html";
import type { ForgeConfig } from "../config.ts";
import type { ForgeContext } from "../forge.context.ts";
import { branchCommit, listBranches, resolveCommit } from "../git/bare-repository.ts";
import { listPath, readBlob, readChanges, readCommit, treePath } from "../git/objects.ts";
import { headOf, openPullRequest, setPullRequestState } from "../pull-requests.ts";
import { ensureDirectory, forkRepository } from "../repositories.ts";
import type { PageContext, PageEnvironment } from "../sign-in/session.ts";
import { type Account, accountById } from "../state/accounts.ts";
import { listAnnotations } from "../state/annotations.ts";
import type { Database } from "../state/database.ts";
import { findPullRequest, listPullRequests, newPullRequestSchema, type PullRequest } from "../state/pull-requests.ts";
import { findFork, findRepository, type Repository, repositoryById } from "../state/repositories.ts";
import { pushToken } from "../state/tokens.ts";
import { buildStatus, buildStatuses } from "./build-status.ts";
import { commitBody, fileBody } from "./commit-page.ts";
import { deploymentList } from "./deployment-list.ts";
import { copyable, type Html, page, problemNote, time } from "./layout.ts";
import { markdown } from "./markdown.ts";

/** A larger file is left to git clients. */
const maxShownBytes = 500_000;

const urlOf = (repository: Repository) => `/${repository.owner}/${repository.name}`;

/** Shows the owner how to push a local directory. */
function pushInstructions(config: ForgeConfig, owner: Account, repository: Repository): Html {
  const url = new URL(`${config.url}${urlOf(repository)}.git`);
  url.username = owner.login;
  url.password = pushToken(config.app.clientSecret, owner);
  const branch = repository.default_branch;
  const existing = `git remote add towpath ${url.href}\ngit push -u towpath HEAD:${branch}`;
  const fresh = `git init -b ${branch}\ngit add .\ngit commit -m "First commit"\ngit remote add towpath ${url.href}\ngit push -u towpath ${branch}`;
  return html`
    <h2>Push an existing repository</h2>
    <p class="soft small">Run this in its directory. The URL contains your push token, which git stores in .git/config.</p>
    ${copyable("Commands to push an existing repository", existing)}
    <h2>Push a directory that isn't a repository yet</h2>
    ${copyable("Commands to push a new repository", fresh)}
    <details><summary>Keep the token out of the URL</summary>
      <p class="small">Use the URL without it; git then asks for user name and password once.</p>
      ${copyable("User name and push token", `user name: ${owner.login}\npassword:  ${pushToken(config.app.clientSecret, owner)}`)}
    </details>`;
}

function branchList(database: Database, repository: Repository, branches: ReadonlyMap<string, string>): Html {
  const items = [...branches].map(
    ([name, sha]) =>
      html`<li class="row"><span class="mono">${name}</span><span class="end small statuses">${buildStatus(database, repository.id, sha)}</span><span class="small mono"><a href="${urlOf(repository)}/commit/${sha}">${sha.slice(0, 7)}</a></span></li>`,
  );
  return html`<h2>Branches</h2><ul class="list tight">${items}</ul>`;
}

/** The branch, with the account before it for one of a fork. */
function headLabel(database: Database, pull: PullRequest): string {
  if (pull.head_repository_id === pull.repository_id) return pull.head;
  const fork = pull.head_repository_id === null ? null : repositoryById(database, pull.head_repository_id);
  return `${fork?.owner ?? accountById(database, pull.author_id)?.login}:${pull.head}`;
}

function pullItem(database: Database, repository: Repository, pull: PullRequest): Html {
  return html`<li><div class="row"><a href="${urlOf(repository)}/pull/${pull.number}"><strong>${pull.title}</strong></a>
      <span class="badge">${pull.state}</span><span class="end soft small">#${pull.number}, ${time(pull.created_at)}</span></div>
    <p class="soft small mono">${headLabel(database, pull)} → ${pull.base}</p></li>`;
}

function branchField(id: string, label: string, branches: readonly string[], chosen: string): Html {
  return html`<div class="field"><label for="${id}">${label}</label><select id="${id}" name="${id}">
    ${branches.map((name) => html`<option value="${name}" ${name === chosen ? "selected" : ""}>${name}</option>`)}</select></div>`;
}

type Branches = { readonly heads: readonly string[]; readonly bases: readonly string[] };

function newPullForm(repository: Repository, { heads, bases }: Branches, problem: string | null): Html {
  const other = heads.find((name) => name !== repository.default_branch);
  if (other === undefined) return html`<p class="soft">Push a second branch to open a pull request.</p>`;
  return html`<section class="card" aria-labelledby="new-pull"><h2 id="new-pull">New pull request</h2>${problemNote(problem)}
    <form method="post" action="${urlOf(repository)}/pulls">
      ${branchField("head", "Merge branch", heads, other)}${branchField("base", "into", bases, repository.default_branch)}
      <div class="field"><label for="title">Title</label><input id="title" name="title" type="text" required maxlength="256" autocomplete="off"></div>
      <button class="primary" type="submit">Open pull request</button>
    </form></section>`;
}

/** For who is signed in and can't push to the repository. */
function forkSection(repository: Repository, fork: Repository | null): Html {
  if (fork) return html`<p>You have a fork: <a href="${urlOf(fork)}">${fork.owner}/${fork.name}</a></p>`;
  return html`<form method="post" action="${urlOf(repository)}/forks"><button type="submit">Fork</button>
    <span class="soft small">Makes a copy that you can push to, and open pull requests from.</span></form>`;
}

function pullRequestBody(context: ForgeContext, repository: Repository, pull: PullRequest, mayClose: boolean): Html {
  const comments = listAnnotations(context.database, repository.id, "issue_comment", String(pull.number)).reverse();
  const next = pull.state === "open" ? "closed" : "open";
  return html`<h2>${pull.title} <span class="soft">#${pull.number}</span></h2>
    <p><span class="badge">${pull.state}</span> <span class="mono">${headLabel(context.database, pull)} → ${pull.base}</span> <a class="small mono" href="${urlOf(repository)}/commit/${pull.head_sha}">${pull.head_sha.slice(0, 7)}</a> </p>
    <h3>Checks</h3>${buildStatuses(context.database, repository.id, pull.head_sha)}
    ${pull.body ? html`<pre class="wrap">${pull.body}</pre>` : ""}
    ${comments.map(({ content: { body }, updated_at }) => html`<section class="card"><p class="soft small">${time(updated_at)}</p>${markdown(String(body))}</section>`)}
    ${mayClose ? html`<form method="post" action="${urlOf(repository)}/pull/${pull.number}"><button name="state" value="${next}" type="submit">${next === "closed" ? "Close" : "Reopen"} pull request</button></form>` : ""}`;
}

function repositoryPage(database: Database, c: PageContext, repository: Repository, content: Html): Html {
  const parent = repository.parent_id === null ? null : repositoryById(database, repository.parent_id);
  const body = html`
    <div class="crumbs"><a href="/${repository.owner}">${repository.owner}</a> <span class="soft">/</span> <h1><a href="${urlOf(repository)}">${repository.name}</a></h1>
      <span class="badge">${repository.private ? "private" : "public"}</span></div>
    ${parent ? html`<p class="soft small">Fork of <a href="${urlOf(parent)}">${parent.owner}/${parent.name}</a></p>` : ""}
    ${repository.description ? html`<p class="soft">${repository.description}</p>` : ""}
    ${content}`;
  return page({ title: `${repository.owner}/${repository.name}`, viewer: c.get("viewer"), body });
}

/**
 * A repository's page (how to push, its branches and pull requests) and the pages of its pull requests: enough to try
 * out previews, and the files that a failed build names. Browsing code and merging is left to git clients.
 */
export function repositoryPages(context: ForgeContext): Hono<PageEnvironment> {
  const { config, database } = context;
  const routes = new Hono<PageEnvironment>();

  /** Null if the repository doesn't exist or the visitor may not read it: the two must look the same. */
  function visible(c: PageContext): { repository: Repository; isOwner: boolean } | null {
    const repository = findRepository(database, c.req.param("owner") ?? "", c.req.param("repo") ?? "");
    if (repository === null) return null;
    const isOwner = c.get("viewer")?.id === repository.owner_id;
    return isOwner || !repository.private ? { repository, isOwner } : null;
  }

  async function show(c: PageContext, problem: string | null) {
    const found = visible(c);
    if (found === null) return c.notFound();
    const { repository, isOwner } = found;
    const branches = await listBranches(await ensureDirectory(context, repository));
    const owner = isOwner ? accountById(database, repository.owner_id) : null;
    const instructions = owner ? pushInstructions(config, owner, repository) : "";
    const clone = html`<h2>Clone</h2>${copyable("Clone URL", `${config.url}${urlOf(repository)}.git`)}`;
    if (branches.size === 0) {
      const empty = html`<div class="card"><strong>This repository is empty.</strong> ${isOwner ? "Push a directory to it:" : ""}</div>`;
      return c.html(repositoryPage(database, c, repository, html`${empty}${instructions}${clone}`));
    }
    const pulls = listPullRequests(database, repository.id);
    const viewer = c.get("viewer");
    const fork = viewer && !isOwner ? findFork(database, repository.id, viewer.id) : null;
    const bases = [...branches.keys()];
    const ofFork = fork ? [...(await listBranches(await ensureDirectory(context, fork))).keys()] : [];
    const heads = isOwner ? bases : ofFork.map((name) => `${fork?.owner}:${name}`);
    const content = html`
      ${branchList(database, repository, branches)}
      ${deploymentList(database, { id: repository.id, path: urlOf(repository) })}
      <h2>Pull requests</h2>
      ${pulls.length > 0 ? html`<ul class="list">${pulls.map((pull) => pullItem(database, repository, pull))}</ul>` : html`<p class="soft">No pull requests yet.</p>`}
      ${isOwner || fork ? newPullForm(repository, { heads, bases }, problem) : ""}
      ${viewer && !isOwner ? html`${fork ? "" : problemNote(problem)}${forkSection(repository, fork)}` : ""}
      ${clone}
      ${isOwner ? html`<details><summary>Push to this repository</summary>${instructions}</details>` : ""}`;
    return c.html(repositoryPage(database, c, repository, content), problem ? 422 : 200);
  }

  function pullOf(c: PageContext) {
    const found = visible(c);
    const pull = found && findPullRequest(database, found.repository.id, Number(c.req.param("number")));
    return found && pull ? { ...found, pull } : null;
  }

  /** The repository's owner, and who opened the pull request. */
  const mayClose = (c: PageContext, { isOwner, pull }: { readonly isOwner: boolean; readonly pull: PullRequest }) =>
    isOwner || c.get("viewer")?.id === pull.author_id;

  routes.get("/:owner/:repo", (c) => show(c, null));

  routes.post("/:owner/:repo/forks", async (c) => {
    const found = visible(c);
    const viewer = c.get("viewer");
    if (found === null || found.isOwner || viewer === null) return c.notFound();
    const fork = await forkRepository(context, found.repository, viewer);
    if (fork === null) return show(c, `You have another repository called ${found.repository.name}.`);
    return c.redirect(urlOf(fork), 303);
  });

  /** Names of branches may have slashes. A branch's page is its newest commit: git clients show the files. */
  routes.get("/:owner/:repo/tree/:branch{.+}", async (c) => {
    const found = visible(c);
    const sha = found && (await branchCommit(await ensureDirectory(context, found.repository), c.req.param("branch")));
    return found && sha ? c.redirect(`${urlOf(found.repository)}/commit/${sha}`) : c.notFound();
  });

  routes.get("/:owner/:repo/commit/:sha{[0-9a-f]{7,64}}", async (c) => {
    const found = visible(c);
    if (found === null) return c.notFound();
    const { repository } = found;
    const directory = await ensureDirectory(context, repository);
    const sha = await resolveCommit(directory, c.req.param("sha"));
    if (sha === null) return c.notFound();
    const [commit, changes] = await Promise.all([readCommit(directory, sha), readChanges(directory, sha)]);
    const builds = buildStatuses(database, repository.id, sha);
    return c.html(repositoryPage(database, c, repository, commitBody(commit, builds, changes)));
  });

  routes.get("/:owner/:repo/blob/:sha{[0-9a-f]{7,64}}/:path{.+}", async (c) => {
    const found = visible(c);
    if (found === null) return c.notFound();
    const directory = await ensureDirectory(context, found.repository);
    const sha = await resolveCommit(directory, c.req.param("sha"));
    const path = treePath(c.req.param("path"));
    const entry = sha === null || path === null ? null : await listPath(directory, sha, path);
    if (entry === null || Array.isArray(entry) || entry.type !== "blob") return c.notFound();
    const text = (entry.size ?? 0) > maxShownBytes ? null : (await readBlob(directory, entry.sha)).toString("utf8");
    return c.html(repositoryPage(database, c, found.repository, fileBody(entry.path, text)));
  });

  routes.post("/:owner/:repo/pulls", async (c) => {
    const found = visible(c);
    const viewer = c.get("viewer");
    if (found === null || viewer === null) return c.notFound();
    const input = newPullRequestSchema.safeParse(await c.req.parseBody());
    if (!input.success) return show(c, input.error.issues.map((issue) => issue.message).join(" "));
    const head = headOf(context, found.repository, input.data.head);
    if (!found.isOwner && head?.repository.owner_id !== viewer.id) return c.notFound();
    const pull = await openPullRequest(context, found.repository, viewer, input.data);
    if ("problem" in pull) return show(c, pull.problem);
    return c.redirect(`${urlOf(found.repository)}/pull/${pull.number}`, 303);
  });

  routes.get("/:owner/:repo/pull/:number", (c) => {
    const found = pullOf(c);
    if (found === null) return c.notFound();
    const { repository, pull } = found;
    return c.html(
      repositoryPage(database, c, repository, pullRequestBody(context, repository, pull, mayClose(c, found))),
    );
  });

  routes.post("/:owner/:repo/pull/:number", async (c) => {
    const found = pullOf(c);
    const viewer = c.get("viewer");
    if (found === null || viewer === null || !mayClose(c, found)) return c.notFound();
    const { repository, pull } = found;
    const state = (await c.req.parseBody()).state === "open" ? "open" : "closed";
    await setPullRequestState(context, repository, { pull, state, sender: viewer });
    return c.redirect(`${urlOf(repository)}/pull/${pull.number}`, 303);
  });

  return routes;
}
