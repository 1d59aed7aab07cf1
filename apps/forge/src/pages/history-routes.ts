import { Hono } from "hono";
import { html } from "hono/html";
import type { ForgeContext } from "../forge.context.ts";
import { listBranches, resolveCommit } from "../git/bare-repository.ts";
import { listCommits } from "../git/commits.ts";
import type { PageContext, PageEnvironment } from "../sign-in/session.ts";
import { commitItem } from "./commit-item.ts";
import { branchUrl, openRepository, repositoryPage } from "./repository-frame.ts";

/** Commits and branches of a repository. */
export function historyPages(context: ForgeContext): Hono<PageEnvironment> {
  const routes = new Hono<PageEnvironment>();

  const showCommits = async (c: PageContext, ref: string) => {
    const opened = await openRepository(context, c);
    if (opened === null) return c.notFound();
    const { repository, directory } = opened;
    const sha = await resolveCommit(directory, ref);
    const commits = sha ? await listCommits(directory, sha, 50) : [];
    const list =
      commits.length > 0
        ? html`<ul class="list">${commits.map(commitItem)}</ul>`
        : html`<p class="soft">No commits yet.</p>`;
    return c.html(repositoryPage(c, repository, "commits", html`<p><span class="badge mono">${ref}</span></p>${list}`));
  };
  routes.get("/:owner/:repo/commits/:ref{.+}", (c) => showCommits(c, c.req.param("ref")));
  routes.get("/:owner/:repo/commit/:ref", (c) => showCommits(c, c.req.param("ref")));

  routes.get("/:owner/:repo/branches", async (c) => {
    const opened = await openRepository(context, c);
    if (opened === null) return c.notFound();
    const { repository, directory } = opened;
    const branches = [...(await listBranches(directory))];
    const items = branches.map(
      ([name, sha]) => html`<li class="row"><a href="${branchUrl(repository, "tree", name)}">${name}</a>
      ${name === repository.default_branch ? html`<span class="badge">default</span>` : ""}
      <a class="end small mono" href="${branchUrl(repository, "commits", name)}">${sha.slice(0, 7)}</a></li>`,
    );
    const list =
      branches.length > 0 ? html`<ul class="list tight">${items}</ul>` : html`<p class="soft">No branches yet.</p>`;
    return c.html(repositoryPage(c, repository, "branches", list));
  });

  return routes;
}
