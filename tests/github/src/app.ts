import { Hono } from "hono";
import { manifestRoutes } from "./app-manifest.ts";
import type { ForgeContext } from "./forge.context.ts";
import { gitRoutes } from "./git/git-routes.ts";
import { operatorRoutes } from "./operator/operator-routes.ts";
import { installationRoutes } from "./pages/installation-routes.ts";
import { restRoutes } from "./rest/rest.ts";
import { authorizeRoutes } from "./sign-in/authorize-routes.ts";
import { type PageEnvironment, readSession } from "./sign-in/session.ts";
import { signInRoutes } from "./sign-in/sign-in-routes.ts";
import { tokenRoutes } from "./sign-in/token-routes.ts";

const picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>';

function pageRoutes(context: ForgeContext): Hono<PageEnvironment> {
  const pages = new Hono<PageEnvironment>();
  pages.use(readSession(context));
  for (const part of [signInRoutes, authorizeRoutes, installationRoutes]) pages.route("/", part(context));
  // The dashboard, on another origin, shows the accounts' pictures.
  const headers = { "content-type": "image/svg+xml", "cross-origin-resource-policy": "cross-origin" };
  pages.get("/:owner/avatar.svg", (c) => c.body(picture, 200, headers));
  return pages;
}

/** The routes: first those for programs (git, REST, the tests' own, OAuth tokens), then pages. */
export function createApp(context: ForgeContext): Hono<PageEnvironment> {
  const app = new Hono<PageEnvironment>();
  app.route("/", manifestRoutes(context));
  app.route("/api/v3", restRoutes(context));
  app.route("/internal", operatorRoutes(context));
  app.route("/", tokenRoutes(context));
  app.route("/", gitRoutes(context));
  app.route("/", pageRoutes(context));
  return app;
}
