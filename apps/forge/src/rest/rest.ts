import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { diskFull, isDiskFull } from "../disk-full.ts";
import type { ForgeContext } from "../forge.context.ts";
import { GitError } from "../git/run-git.ts";
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
  // Before the route of commits, whose names may have slashes.
  checkRoutes,
  repositoryRoutes,
  contentRoutes,
  gitDataRoutes,
  pullRequestRoutes,
  deploymentRoutes,
  commentRoutes,
];

const bodyLimitBytes = 16 * 1024 * 1024;

/** The REST API, mounted at /api/v3 as on a GitHub Enterprise host. */
export function restRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const rest = new Hono<RestEnvironment>();

  rest.use(bodyLimit({ maxSize: bodyLimitBytes, onError: (c) => c.json({ message: "Payload too large" }, 413) }));
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
    context.log.error({ err: error, git: error instanceof GitError, path: c.req.path }, "REST call failed");
    if (isDiskFull(error)) return c.json({ message: diskFull.message }, diskFull.status);
    return c.json({ message: "Server Error" }, 500);
  });
  return rest;
}
