import { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import type { ForgeConfig } from "../config.ts";
import { appName, type ForgeContext } from "../forge.context.ts";
import { install, uninstall } from "../installations.ts";
import { type PageContext, type PageEnvironment, redirectToSignIn } from "../sign-in/session.ts";
import type { Account } from "../state/accounts.ts";
import {
  type Installation,
  type InstallationChoice,
  installationById,
  installationOfAccount,
  repositoriesOfInstallation,
} from "../state/installations.ts";
import { type Repository, repositoriesOf } from "../state/repositories.ts";
import { type Html, hidden, page, problemNote } from "./layout.ts";

const formSchema = z.object({
  selection: z.enum(["all", "selected"]),
  repository: z.union([z.string().transform((id) => [id]), z.array(z.string())]).default([]),
  state: z.string().max(2048).optional(),
});

type View = {
  readonly slug: string;
  readonly viewer: Account;
  readonly installation: Installation | null;
  readonly repositories: readonly Repository[];
  readonly chosen: ReadonlySet<number>;
  readonly state: string | undefined;
  readonly problem: string | null;
  /** The page's URL, for returning after switching accounts. */
  readonly here: string;
};

function repositoryChoice(repository: Repository, isChosen: boolean): Html {
  return html`<label class="choice"><input type="checkbox" name="repository" value="${repository.id}" ${isChosen ? "checked" : ""}>
    <span>${repository.name}${repository.private ? html` <span class="badge">private</span>` : ""}</span></label>`;
}

function chooser(view: View): Html {
  const selected = view.installation?.selection === "selected";
  const { repositories, chosen } = view;
  const list =
    repositories.length === 0
      ? html`<p class="soft small">This account has no repositories yet.</p>`
      : html`<div class="scroll">${repositories.map((repository) => repositoryChoice(repository, chosen.has(repository.id)))}</div>`;
  return html`
    <fieldset><legend>Repository access</legend>
      <label class="choice"><input type="radio" name="selection" value="all" ${selected ? "" : "checked"}>
        <span><strong>All repositories</strong><br><span class="soft small">Also those that you create later.</span></span></label>
      <label class="choice"><input type="radio" name="selection" value="selected" ${selected ? "checked" : ""}>
        <span><strong>Only select repositories</strong><br><span class="soft small">Repositories that ${appName} creates for you are added by themselves.</span></span></label>
    </fieldset>
    <fieldset data-when="selection"><legend>Selected repositories</legend>${list}</fieldset>`;
}

function installPage(view: View): Html {
  const { viewer, installation } = view;
  const removal = installation
    ? html`<section class="card"><h2>Uninstall</h2>
        <p class="soft">${appName} loses access to the repositories of this account. What runs already keeps running.</p>
        <form method="post" action="/settings/installations/${installation.id}/uninstall"><button class="danger" type="submit">Uninstall ${appName}</button></form>
      </section>`
    : "";
  const body = html`
    <h1>${installation ? `Configure ${appName}` : `Install ${appName}`}</h1>
    <p class="soft">${installation ? "Choose what it may see." : "It reads your code, and builds it when you push."}</p>
    ${problemNote(view.problem)}
    <section class="card">
      <p class="row"><img class="avatar" src="/${viewer.login}/avatar.svg" alt=""><span>On your account <strong>${viewer.login}</strong></span>
        <a class="end small" href="/login?return_to=${encodeURIComponent(view.here)}">Use another account</a></p>
      <form method="post" action="/apps/${view.slug}/installations">${hidden("state", view.state)}
        ${chooser(view)}
        <details><summary>Permissions</summary><ul class="small">
          <li>Read code and metadata</li>
          <li>Read and write pull request comments, checks, statuses and deployments</li>
          <li>Create repositories from samples that you choose</li>
        </ul></details>
        <div class="actions"><button class="primary" type="submit">${installation ? "Save" : "Install"}</button></div>
      </form>
    </section>
    ${removal}`;
  return page({ title: installation ? `Configure ${appName}` : `Install ${appName}`, viewer, width: "narrow", body });
}

/** Where GitHub sends the browser after an installation: the App's setup URL. */
function setupUrl(config: ForgeConfig, installation: Installation, isNew: boolean, state: string | undefined): string {
  const target = new URL(config.setupUrl);
  target.searchParams.set("installation_id", String(installation.id));
  target.searchParams.set("setup_action", isNew ? "install" : "update");
  if (state !== undefined) target.searchParams.set("state", state);
  return target.href;
}

/** The pages that install the App on an account and choose its repositories (ONB-2). */
export function installationRoutes(context: ForgeContext): Hono<PageEnvironment> {
  const { database, config } = context;
  const routes = new Hono<PageEnvironment>();
  function show(c: PageContext, viewer: Account, state: string | undefined, problem: string | null = null) {
    const installation = installationOfAccount(database, viewer.id);
    const covered = installation ? repositoriesOfInstallation(database, installation) : [];
    const repositories = repositoriesOf(database, viewer.id);
    const chosen = new Set(covered.map(({ id }) => id));
    const query = state === undefined ? "" : `?state=${encodeURIComponent(state)}`;
    const here = `/apps/${config.app.slug}/installations/new${query}`;
    const { slug } = config.app;
    return c.html(
      installPage({ slug, viewer, installation, repositories, chosen, state, problem, here }),
      problem ? 422 : 200,
    );
  }

  routes.get("/apps/:slug", (c) => c.redirect(`/apps/${c.req.param("slug")}/installations/new`));

  routes.get("/apps/:slug/installations/new", (c) => {
    if (c.req.param("slug") !== config.app.slug) return c.notFound();
    const viewer = c.get("viewer");
    return viewer === null ? redirectToSignIn(c) : show(c, viewer, c.req.query("state"));
  });

  routes.get("/settings/installations/:id", (c) => {
    const viewer = c.get("viewer");
    if (viewer === null) return redirectToSignIn(c);
    const installation = installationById(database, Number(c.req.param("id")));
    return installation?.account_id === viewer.id ? show(c, viewer, undefined) : c.notFound();
  });

  routes.post("/apps/:slug/installations", async (c) => {
    const viewer = c.get("viewer");
    if (viewer === null) return c.redirect("/login", 303);
    const form = formSchema.safeParse(await c.req.parseBody({ all: true }));
    if (!form.success) return show(c, viewer, undefined, "Choose all repositories or only some.");
    const { selection, repository, state } = form.data;
    const repositoryIds = repository.map(Number).filter((id) => Number.isSafeInteger(id));
    if (selection === "selected" && repositoryIds.length === 0) {
      return show(c, viewer, state, "Choose at least one repository, or all.");
    }
    const choice: InstallationChoice = selection === "all" ? { selection } : { selection, repositoryIds };
    const { installation, isNew } = install(context, viewer, choice);
    return c.redirect(setupUrl(config, installation, isNew, state), 303);
  });

  routes.post("/settings/installations/:id/uninstall", (c) => {
    const viewer = c.get("viewer");
    const installation = installationById(database, Number(c.req.param("id")));
    if (viewer === null || installation?.account_id !== viewer.id) return c.notFound();
    uninstall(context, installation);
    return c.redirect(`/${viewer.login}`, 303);
  });

  return routes;
}
