import { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import { appName, type ForgeContext } from "../forge.context.ts";
import { createRepository } from "../repositories.ts";
import { type PageContext, type PageEnvironment, redirectToSignIn } from "../sign-in/session.ts";
import { type Account, findAccount, listAccounts } from "../state/accounts.ts";
import { type Installation, installationOfAccount } from "../state/installations.ts";
import { type Repository, repositoriesOf, repositoryNameSchema } from "../state/repositories.ts";
import { type Html, page, problemNote, time } from "./layout.ts";

const formSchema = z.object({
  name: repositoryNameSchema,
  description: z.string().trim().max(350, "A description has up to 350 characters.").default(""),
  visibility: z.enum(["public", "private"], "Choose a visibility."),
  readme: z.string().optional(),
});

function repositoryItem(repository: Repository): Html {
  return html`<li><div class="row"><a href="/${repository.owner}/${repository.name}"><strong>${repository.name}</strong></a>
      <span class="badge">${repository.private ? "private" : "public"}</span>
      <span class="end soft small">Updated ${time(repository.updated_at)}</span></div>
    ${repository.description ? html`<p class="soft">${repository.description}</p>` : ""}</li>`;
}

function appNote(slug: string, installation: Installation | null): Html {
  const url = installation ? `/settings/installations/${installation.id}` : `/apps/${slug}/installations/new`;
  const text = installation
    ? installation.selection === "all"
      ? "sees all repositories of this account."
      : "sees the repositories that you chose."
    : "can't see this account, so it builds no pushes.";
  return html`<div class="card row"><span>${appName} ${text}</span><a class="end" href="${url}">${installation ? "Configure" : "Give access"}</a></div>`;
}

function welcomePage(accounts: readonly Account[]): Html {
  const body = html`<h1>Git on this machine</h1>
    <p class="soft">Push a repository here and Towpath builds it. To deploy from GitHub instead, an operator configures a GitHub App.</p>
    <p><a class="button primary" href="/login">${accounts.length > 0 ? "Sign in" : "Create a local account"}</a></p>
    ${accounts.length > 0 ? html`<h2>Accounts</h2><ul class="list tight">${accounts.map(({ login }) => html`<li><a href="/${login}">${login}</a></li>`)}</ul>` : ""}`;
  return page({ title: "Welcome", viewer: null, body });
}

function newRepositoryPage(viewer: Account, problem: string | null, attempt: Record<string, unknown>): Html {
  const text = (name: string) => String(attempt[name] ?? "");
  const isPrivate = attempt.visibility === "private";
  const body = html`<h1>New repository</h1><p class="soft">You push to it with git.</p>
    ${problemNote(problem)}
    <section class="card"><form method="post" action="/new">
      <div class="field"><label for="name">Repository name</label>
        <input id="name" name="name" type="text" required maxlength="100" autocapitalize="none" autocomplete="off" spellcheck="false" value="${text("name")}"></div>
      <div class="field"><label for="description">Description <span class="soft">(optional)</span></label>
        <input id="description" name="description" type="text" maxlength="350" autocomplete="off" value="${text("description")}"></div>
      <fieldset><legend>Visibility</legend>
        <label class="choice"><input type="radio" name="visibility" value="public" ${isPrivate ? "" : "checked"}><span><strong>Public</strong><br><span class="soft small">Anyone on this machine can clone it.</span></span></label>
        <label class="choice"><input type="radio" name="visibility" value="private" ${isPrivate ? "checked" : ""}><span><strong>Private</strong><br><span class="soft small">Only you can clone it, with your push token.</span></span></label>
      </fieldset>
      <label class="choice"><input type="checkbox" name="readme" value="yes"><span>Add a README <span class="soft">Leave this off to push an existing directory.</span></span></label>
      <div class="actions"><button class="primary" type="submit">Create repository</button></div>
    </form></section>`;
  return page({ title: "New repository", viewer, width: "narrow", body });
}

/** A square with the first letter, in a color derived from the id. */
function avatar(account: Account): string {
  const hue = (account.id * 137) % 360;
  const letter = account.login.slice(0, 1).toUpperCase();
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" fill="hsl(${hue} 32% 42%)"/><text x="20" y="27" font-family="system-ui,sans-serif" font-size="19" fill="#fff" text-anchor="middle">${letter}</text></svg>`;
}

/** Start page, accounts and their repositories. */
export function accountRoutes(context: ForgeContext): Hono<PageEnvironment> {
  const { database, config } = context;
  const routes = new Hono<PageEnvironment>();

  function showAccount(c: PageContext, account: Account) {
    const viewer = c.get("viewer");
    const isOwn = viewer?.id === account.id;
    const repositories = repositoriesOf(database, account.id).filter((repository) => isOwn || !repository.private);
    const body = html`
      <div class="row"><img class="avatar" src="/${account.login}/avatar.svg" alt=""><h1>${account.login}</h1><span class="soft">${account.name ?? ""}</span>
        ${isOwn ? html`<a class="button primary end" href="/new">New repository</a>` : ""}</div>
      ${isOwn ? appNote(config.app.slug, installationOfAccount(database, account.id)) : ""}
      <h2>Repositories</h2>
      ${repositories.length > 0 ? html`<ul class="list">${repositories.map(repositoryItem)}</ul>` : html`<p class="soft">No repositories yet.${isOwn ? " Create one, then push a directory to it." : ""}</p>`}`;
    return c.html(page({ title: account.login, viewer, body }));
  }

  routes.get("/", (c) => {
    const viewer = c.get("viewer");
    return viewer ? showAccount(c, viewer) : c.html(welcomePage(listAccounts(database)));
  });

  // No account's name begins with a hyphen.
  routes.get("/-/dashboard", (c) => c.redirect(new URL(config.setupUrl).origin));

  routes.get("/new", (c) => {
    const viewer = c.get("viewer");
    return viewer === null
      ? redirectToSignIn(c)
      : c.html(newRepositoryPage(viewer, null, { name: c.req.query("name") }));
  });

  routes.post("/new", async (c) => {
    const viewer = c.get("viewer");
    if (viewer === null) return c.redirect("/login?return_to=/new", 303);
    const form = await c.req.parseBody();
    const refuse = (problem: string) => c.html(newRepositoryPage(viewer, problem, form), 422);
    const input = formSchema.safeParse(form);
    if (!input.success) return refuse(input.error.issues.map((issue) => issue.message).join(" "));
    const { name, description, visibility, readme } = input.data;
    const repository = await createRepository(context, viewer, {
      name,
      description: description || null,
      private: visibility === "private",
      withReadme: readme === "yes",
      byApp: false,
    });
    if (repository === null) return refuse("You already have a repository with this name.");
    return c.redirect(`/${repository.owner}/${repository.name}`, 303);
  });

  routes.get("/:owner/avatar.svg", (c) => {
    const account = findAccount(database, c.req.param("owner"));
    return account ? c.body(avatar(account), 200, { "content-type": "image/svg+xml" }) : c.notFound();
  });

  routes.get("/:owner", (c) => {
    const account = findAccount(database, c.req.param("owner"));
    return account ? showAccount(c, account) : c.notFound();
  });

  return routes;
}
