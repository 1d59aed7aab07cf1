import { Hono } from "hono";
import { html } from "hono/html";
import { appName, type ForgeContext } from "../forge.context.ts";
import { install, uninstall } from "../installations.ts";
import { type PageEnvironment, redirectToSignIn } from "../sign-in/session.ts";
import { installationById, installationOfAccount } from "../state/installations.ts";
import { hidden, page } from "./layout.ts";

/** The pages that install the App on an account (ONB-2), from where GitHub sends the browser to the App's setup URL. */
export function installationRoutes(context: ForgeContext): Hono<PageEnvironment> {
  const { database, config } = context;
  const routes = new Hono<PageEnvironment>();
  routes.get("/apps/:slug/installations/new", (c) => {
    if (c.req.param("slug") !== config.app.slug) return c.notFound();
    const viewer = c.get("viewer");
    if (viewer === null) return redirectToSignIn(c);
    const isInstalled = installationOfAccount(database, viewer.id) !== null;
    const body = html`<p>On the account ${viewer.login}, for all repositories.</p>
      <form method="post" action="/apps/${config.app.slug}/installations">${hidden("state", c.req.query("state"))}
        <button type="submit">${isInstalled ? "Save" : "Install"}</button></form>`;
    return c.html(page({ title: `${isInstalled ? "Configure" : "Install"} ${appName}`, body }));
  });

  routes.post("/apps/:slug/installations", async (c) => {
    const viewer = c.get("viewer");
    if (viewer === null) return c.redirect("/login", 303);
    const { state } = await c.req.parseBody();
    const { installation, isNew } = install(context, viewer);
    const target = new URL(config.setupUrl);
    target.searchParams.set("installation_id", String(installation.id));
    target.searchParams.set("setup_action", isNew ? "install" : "update");
    if (typeof state === "string") target.searchParams.set("state", state);
    return c.redirect(target.href, 303);
  });

  routes.post("/settings/installations/:id/uninstall", (c) => {
    const viewer = c.get("viewer");
    const installation = installationById(database, Number(c.req.param("id")));
    if (viewer === null || installation?.account_id !== viewer.id) return c.notFound();
    uninstall(context, installation);
    return c.body(null, 204);
  });

  return routes;
}
