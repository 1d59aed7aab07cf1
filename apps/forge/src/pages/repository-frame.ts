import { html } from "hono/html";
import type { ForgeContext } from "../forge.context.ts";
import { ensureDirectory } from "../repositories.ts";
import type { PageContext } from "../sign-in/session.ts";
import { findRepository, type Repository } from "../state/repositories.ts";
import { type Html, page } from "./layout.ts";

export type Tab = "code" | "commits" | "branches" | "pulls";

/** The repository of the URL when the visitor may read it. null for both: not there, not theirs. */
export function visibleRepository(
  context: ForgeContext,
  c: PageContext,
): { repository: Repository; isOwner: boolean } | null {
  const repository = findRepository(context.database, c.req.param("owner") ?? "", c.req.param("repo") ?? "");
  if (repository === null) return null;
  const isOwner = c.get("viewer")?.id === repository.owner_id;
  return isOwner || !repository.private ? { repository, isOwner } : null;
}

/** The same, with its folder. */
export async function openRepository(context: ForgeContext, c: PageContext) {
  const visible = visibleRepository(context, c);
  return visible && { ...visible, directory: await ensureDirectory(context, visible.repository) };
}

export function branchUrl(repository: Repository, view: "tree" | "commits", branch: string): string {
  return `/${repository.owner}/${repository.name}/${view}/${branch.split("/").map(encodeURIComponent).join("/")}`;
}

/** Name, description and tabs around a page of one repository. */
export function repositoryPage(c: PageContext, repository: Repository, tab: Tab, content: Html): Html {
  const base = `/${repository.owner}/${repository.name}`;
  const tabs = [
    ["code", base, "Code"],
    ["commits", branchUrl(repository, "commits", repository.default_branch), "Commits"],
    ["branches", `${base}/branches`, "Branches"],
    ["pulls", `${base}/pulls`, "Pull requests"],
  ] as const;
  const body = html`
    <div class="crumbs"><a href="/${repository.owner}">${repository.owner}</a> <span class="soft">/</span> <h1><a href="${base}">${repository.name}</a></h1>
      <span class="badge">${repository.private ? "private" : "public"}</span></div>
    ${repository.description ? html`<p class="soft">${repository.description}</p>` : ""}
    <nav class="tabs" aria-label="Repository">${tabs.map(([name, href, label]) => html`<a href="${href}"${name === tab ? html` aria-current="page"` : ""}>${label}</a>`)}</nav>
    ${content}`;
  return page({ title: `${repository.owner}/${repository.name}`, viewer: c.get("viewer"), body });
}
