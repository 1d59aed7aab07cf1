import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import { manifestRoutes } from "./app-manifest.ts";
import type { ForgeContext } from "./forge.context.ts";
import { gitRoutes } from "./git/git-routes.ts";
import { operatorRoutes } from "./operator/operator-routes.ts";
import { accountRoutes } from "./pages/account-routes.ts";
import { installationRoutes } from "./pages/installation-routes.ts";
import { assetRoutes, page } from "./pages/layout.ts";
import { repositoryPages } from "./pages/repository-pages.ts";
import { onlyOwnForms, onlyOwnHosts, pageHeaders } from "./pages/security.ts";
import { restRoutes } from "./rest/rest.ts";
import { authorizeRoutes } from "./sign-in/authorize-routes.ts";
import { type PageEnvironment, readSession } from "./sign-in/session.ts";
import { signInRoutes } from "./sign-in/sign-in-routes.ts";
import { tokenRoutes } from "./sign-in/token-routes.ts";

const formLimitBytes = 256 * 1024;

function pageRoutes(context: ForgeContext): Hono<PageEnvironment> {
  const { config } = context;
  const pages = new Hono<PageEnvironment>();
  pages.use(...pageHeaders(config), onlyOwnForms(config), bodyLimit({ maxSize: formLimitBytes }), readSession(context));
  const parts = [signInRoutes, authorizeRoutes, installationRoutes, accountRoutes, repositoryPages];
  for (const part of parts) pages.route("/", part(context));
  pages.onError((error, c) => {
    // Thrown by Hono's middleware: a form from another site, or one that is too large.
    if (error instanceof HTTPException) return error.getResponse();
    context.log.error({ err: error, path: c.req.path }, "page failed");
    const body = html`<h1>Something went wrong</h1><p class="soft">The forge's log has the details. Try again.</p>`;
    return c.html(page({ title: "Error", viewer: null, width: "narrow", body }), 500);
  });
  return pages;
}

/** The forge's routes: first those of programs (git, REST, operator, OAuth tokens), then pages. */
export function createApp(context: ForgeContext): Hono<PageEnvironment> {
  const app = new Hono<PageEnvironment>();
  app.use(onlyOwnHosts(context.config));
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  // Before the pages: their forms come from other sites.
  app.route("/", manifestRoutes(context));
  app.route("/api/v3", restRoutes(context));
  app.route("/internal", operatorRoutes(context));
  app.route("/assets", assetRoutes());
  app.route("/", tokenRoutes(context));
  app.route("/", gitRoutes(context));
  app.route("/", pageRoutes(context));
  app.notFound((c) => {
    const body = html`<h1>Not found</h1>
      <p class="soft">This page does not exist, or it is private.</p>
      <p><a href="/">Go to the start page</a></p>`;
    return c.html(page({ title: "Not found", viewer: c.get("viewer") ?? null, width: "narrow", body }), 404);
  });
  return app;
}
