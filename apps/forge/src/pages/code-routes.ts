import { Hono } from "hono";
import { html } from "hono/html";
import type { ForgeContext } from "../forge.context.ts";
import { listBranches, resolveCommit } from "../git/bare-repository.ts";
import { readCommit } from "../git/commits.ts";
import { listPath, readBlob, type TreeEntry, treePath } from "../git/trees.ts";
import type { PageContext, PageEnvironment } from "../sign-in/session.ts";
import { accountById } from "../state/accounts.ts";
import type { Repository } from "../state/repositories.ts";
import { commitItem } from "./commit-item.ts";
import { copyable, type Html } from "./layout.ts";
import { pushInstructions } from "./push-instructions.ts";
import { openRepository, repositoryPage } from "./repository-frame.ts";

const textLimitBytes = 256 * 1024;

const bytes = (size: number) => (size < 1024 ? `${size} B` : `${(size / 1024).toFixed(1)} KiB`);

function entryItem(repository: Repository, ref: string, entry: TreeEntry): Html {
  const name = entry.path.slice(entry.path.lastIndexOf("/") + 1);
  const encodedPath = entry.path.split("/").map(encodeURIComponent).join("/");
  const href = `/${repository.owner}/${repository.name}/files/${encodedPath}?ref=${encodeURIComponent(ref)}`;
  const label = entry.type === "tree" ? `${name}/` : name;
  return html`<li class="row">${entry.type === "commit" ? label : html`<a href="${href}">${label}</a>`}
    ${entry.size === null ? "" : html`<span class="end soft small">${bytes(entry.size)}</span>`}</li>`;
}

function listing(repository: Repository, ref: string, entries: readonly TreeEntry[]): Html {
  const sorted = [...entries].sort(
    (a, b) => Number(b.type === "tree") - Number(a.type === "tree") || a.path.localeCompare(b.path),
  );
  return html`<ul class="list tight">${sorted.map((entry) => entryItem(repository, ref, entry))}</ul>`;
}

async function textOf(directory: string, entry: TreeEntry): Promise<string | null> {
  if (entry.type !== "blob" || (entry.size ?? 0) > textLimitBytes) return null;
  const content = await readBlob(directory, entry.sha);
  return content.includes(0) ? null : content.toString("utf8");
}

async function readme(directory: string, entries: readonly TreeEntry[]): Promise<Html> {
  const entry = entries.find(({ path }) => /^readme(\.(md|markdown|txt|rst))?$/i.test(path));
  const text = entry ? await textOf(directory, entry) : null;
  return text === null ? html`` : html`<h2>${entry?.path}</h2><pre class="wrap" tabindex="0">${text}</pre>`;
}

/** The start page of a repository: files, README, and how to push to it. */
export function codePages(context: ForgeContext): Hono<PageEnvironment> {
  const { config, database } = context;
  const routes = new Hono<PageEnvironment>();

  function instructions(repository: Repository, isOwner: boolean): Html {
    const owner = isOwner ? accountById(database, repository.owner_id) : null;
    return owner ? pushInstructions(config, owner, repository) : html``;
  }

  async function showTree(c: PageContext, ref: string | null) {
    const opened = await openRepository(context, c);
    if (opened === null) return c.notFound();
    const { repository, directory, isOwner } = opened;
    const clone = html`<h2>Clone</h2>${copyable("Clone address", `${config.url}/${repository.owner}/${repository.name}.git`)}`;
    const branches = await listBranches(directory);
    if (branches.size === 0) {
      const empty = html`<div class="card"><strong>This repository is empty.</strong> ${isOwner ? "Push a folder to it:" : ""}</div>`;
      return c.html(repositoryPage(c, repository, "code", html`${empty}${instructions(repository, isOwner)}${clone}`));
    }
    // HEAD may name a branch that was never pushed.
    const start = branches.has(repository.default_branch) ? repository.default_branch : [...branches.keys()][0];
    const shown = ref ?? start ?? repository.default_branch;
    const sha = await resolveCommit(directory, shown);
    if (sha === null) return c.notFound();
    const entries = (await listPath(directory, sha, ""))?.entries ?? [];
    const content = html`
      <div class="row"><span class="badge mono">${shown}</span><a class="small" href="/${repository.owner}/${repository.name}/branches">${branches.size} ${branches.size === 1 ? "branch" : "branches"}</a></div>
      <ul class="list">${commitItem(await readCommit(directory, sha))}</ul>
      ${listing(repository, shown, entries)}
      ${await readme(directory, entries)}
      ${clone}
      ${isOwner ? html`<details><summary>Push to this repository</summary>${instructions(repository, isOwner)}</details>` : ""}`;
    return c.html(repositoryPage(c, repository, "code", content));
  }

  routes.get("/:owner/:repo", (c) => showTree(c, null));
  routes.get("/:owner/:repo/tree/:ref{.+}", (c) => showTree(c, c.req.param("ref")));

  return routes;
}

/** One file or folder. */
export function filePages(context: ForgeContext): Hono<PageEnvironment> {
  const routes = new Hono<PageEnvironment>();

  routes.get("/:owner/:repo/files/:path{.+}", async (c) => {
    const opened = await openRepository(context, c);
    const path = treePath(c.req.param("path"));
    if (opened === null || path === null) return c.notFound();
    const { repository, directory } = opened;
    const ref = c.req.query("ref") ?? repository.default_branch;
    const sha = await resolveCommit(directory, ref);
    const found = sha && (await listPath(directory, sha, path));
    if (!found) return c.notFound();
    const { entry } = found;
    const text = entry ? await textOf(directory, entry) : null;
    const isFile = entry !== null && entry.type !== "tree";
    const shown =
      text === null
        ? html`<p class="soft">Not shown: no text, or too long.</p>`
        : html`<pre tabindex="0">${text}</pre>`;
    const content = html`<p class="mono">${path} <span class="badge">${ref}</span></p>${isFile ? shown : listing(repository, ref, found.entries)}`;
    return c.html(repositoryPage(c, repository, "code", content));
  });

  return routes;
}
