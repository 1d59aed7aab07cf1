import { Hono } from "hono";
import type { ForgeContext } from "../forge.context.ts";
import { appRoutes, installationRoutes } from "./app-routes.ts";
import { identify, type RestEnvironment } from "./caller.ts";
import { checkRoutes } from "./check-routes.ts";
import { commentRoutes } from "./comment-routes.ts";
import { contentRoutes } from "./content-routes.ts";
import { deliveryRoutes } from "./delivery-routes.ts";
import { deploymentRoutes } from "./deployment-routes.ts";
import { gitDataRoutes } from "./git-data-routes.ts";
import { pullRequestRoutes } from "./pull-request-routes.ts";
import { repositoryRoutes } from "./repository-routes.ts";
import { RestError } from "./rest-request.ts";

const parts = [
  appRoutes,
  deliveryRoutes,
  installationRoutes,
  // Before the route of commits, where names may have slashes.
  checkRoutes,
  repositoryRoutes,
  contentRoutes,
  gitDataRoutes,
  pullRequestRoutes,
  deploymentRoutes,
  commentRoutes,
];

/** The REST API, mounted at /api/v3 as on a GitHub Enterprise host. */
export function restRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const rest = new Hono<RestEnvironment>();

  rest.use(async (c, next) => {
    c.header("x-github-media-type", "github.v3; format=json");
    c.set("caller", await identify(context, c.req.header("authorization")));
    await next();
  });
  for (const part of parts) {
    rest.route("/", part(context));
  }
  rest.all("*", (c) => c.json({ message: "Not Found" }, 404));
  rest.onError((error, c) => {
    if (error instanceof RestError) {
      const errors = error.errors.length > 0 ? { errors: error.errors } : {};
      return c.json({ message: error.message, ...errors, status: String(error.status) }, error.status);
    }
    process.stderr.write(`${c.req.path}: ${error.stack}\n`);
    return c.json({ message: "Server Error" }, 500);
  });
  return rest;
}
