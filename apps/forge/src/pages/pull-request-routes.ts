import { Hono } from "hono";
import { html } from "hono/html";
import type { ForgeContext } from "../forge.context.ts";
import { listBranches } from "../git/bare-repository.ts";
import { changePullRequest, openPullRequest } from "../pull-requests.ts";
import { ensureDirectory } from "../repositories.ts";
import type { PageContext, PageEnvironment } from "../sign-in/session.ts";
import { listAnnotations } from "../state/annotations.ts";
import { findPullRequest, listPullRequests, newPullRequestSchema, type PullRequest } from "../state/pull-requests.ts";
import type { Repository } from "../state/repositories.ts";
import { type Html, problemNote, time } from "./layout.ts";
import { repositoryPage, visibleRepository } from "./repository-frame.ts";

const urlOf = (repository: Repository) => `/${repository.owner}/${repository.name}`;

function pullItem(repository: Repository, pull: PullRequest): Html {
  return html`<li><div class="row"><a href="${urlOf(repository)}/pull/${pull.number}"><strong>${pull.title}</strong></a>
      <span class="badge">${pull.state}</span><span class="end soft small">#${pull.number}, ${time(pull.created_at)}</span></div>
    <p class="soft small mono">${pull.head} → ${pull.base}</p></li>`;
}

function branchField(id: string, label: string, branches: readonly string[], chosen: string): Html {
  return html`<div class="field"><label for="${id}">${label}</label><select id="${id}" name="${id}">
    ${branches.map((name) => html`<option value="${name}" ${name === chosen ? "selected" : ""}>${name}</option>`)}</select></div>`;
}

function newPullForm(repository: Repository, branches: readonly string[], problem: string | null): Html {
  const other = branches.find((name) => name !== repository.default_branch);
  if (other === undefined) return html`<p class="soft">Push a second branch to open a pull request.</p>`;
  return html`<section class="card" aria-labelledby="new-pull"><h2 id="new-pull">New pull request</h2>${problemNote(problem)}
    <form method="post" action="${urlOf(repository)}/pulls">
      ${branchField("head", "Merge branch", branches, other)}${branchField("base", "into", branches, repository.default_branch)}
      <div class="field"><label for="title">Title</label><input id="title" name="title" type="text" required maxlength="256" autocomplete="off"></div>
      <button class="primary" type="submit">Open pull request</button>
    </form></section>`;
}

/** Enough of pull requests to see previews come and go: open, close, reopen. Merging is git's. */
export function pullRequestPages(context: ForgeContext): Hono<PageEnvironment> {
  const { database } = context;
  const routes = new Hono<PageEnvironment>();

  async function showList(c: PageContext, problem: string | null) {
    const visible = visibleRepository(context, c);
    if (visible === null) return c.notFound();
    const { repository, isOwner } = visible;
    const branches = [...(await listBranches(await ensureDirectory(context, repository))).keys()];
    const pulls = listPullRequests(database, repository.id);
    const list =
      pulls.length > 0
        ? html`<ul class="list">${pulls.map((pull) => pullItem(repository, pull))}</ul>`
        : html`<p class="soft">No pull requests yet.</p>`;
    const content = html`${list}${isOwner ? newPullForm(repository, branches, problem) : ""}`;
    return c.html(repositoryPage(c, repository, "pulls", content), problem ? 422 : 200);
  }

  routes.get("/:owner/:repo/pulls", (c) => showList(c, null));

  routes.post("/:owner/:repo/pulls", async (c) => {
    const visible = visibleRepository(context, c);
    const viewer = c.get("viewer");
    if (!visible?.isOwner || viewer === null) return c.notFound();
    const input = newPullRequestSchema.safeParse(await c.req.parseBody());
    if (!input.success) return showList(c, input.error.issues.map((issue) => issue.message).join(" "));
    const pull = await openPullRequest(context, visible.repository, viewer, input.data);
    if ("problem" in pull) return showList(c, pull.problem);
    return c.redirect(`${urlOf(visible.repository)}/pull/${pull.number}`, 303);
  });

  routes.get("/:owner/:repo/pull/:number", (c) => {
    const visible = visibleRepository(context, c);
    const pull = visible && findPullRequest(database, visible.repository.id, Number(c.req.param("number")));
    if (!visible || !pull) return c.notFound();
    const { repository, isOwner } = visible;
    const comments = listAnnotations(database, repository.id, "issue_comment", String(pull.number)).reverse();
    const next = pull.state === "open" ? "closed" : "open";
    const content = html`<h2>${pull.title} <span class="soft">#${pull.number}</span></h2>
      <p><span class="badge">${pull.state}</span> <span class="mono">${pull.head} → ${pull.base}</span> <span class="soft small mono">${pull.head_sha.slice(0, 7)}</span></p>
      ${pull.body ? html`<pre class="wrap">${pull.body}</pre>` : ""}
      ${comments.map(({ content: { body }, updated_at }) => html`<section class="card"><p class="soft small">${time(updated_at)}</p><pre class="wrap">${String(body)}</pre></section>`)}
      ${isOwner ? html`<form method="post" action="${urlOf(repository)}/pull/${pull.number}"><button name="state" value="${next}" type="submit">${next === "closed" ? "Close" : "Reopen"} pull request</button></form>` : ""}`;
    return c.html(repositoryPage(c, repository, "pulls", content));
  });

  routes.post("/:owner/:repo/pull/:number", async (c) => {
    const visible = visibleRepository(context, c);
    const viewer = c.get("viewer");
    const pull = visible && findPullRequest(database, visible.repository.id, Number(c.req.param("number")));
    if (!visible?.isOwner || !pull || viewer === null) return c.notFound();
    const form = await c.req.parseBody();
    const state = form.state === "open" ? "open" : "closed";
    if (state !== pull.state)
      changePullRequest(context, visible.repository, { pull, change: { state }, sender: viewer });
    return c.redirect(`${urlOf(visible.repository)}/pull/${pull.number}`, 303);
  });

  return routes;
}
