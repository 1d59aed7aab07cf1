import { Hono } from "hono";
import type { ForgeContext } from "../forge.context.ts";
import { installationById, installationOfAccount, repositoriesOfInstallation } from "../state/installations.ts";
import { grantReaches } from "./caller.ts";
import { RestError } from "./rest-error.ts";
import { numberParam, paginate, type RestEnvironment, requireUser } from "./rest-request.ts";
import { installationShape, repositoryShape } from "./shapes.ts";

/** Where the App is installed and what it reaches there, for users and for installations. */
export function installationRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database, config } = context;
  const routes = new Hono<RestEnvironment>();

  routes.get("/user/installations", (c) => {
    const installation = installationOfAccount(database, requireUser(c).id);
    const installations = installation ? [installationShape(context, installation)] : [];
    return c.json({ total_count: installations.length, installations });
  });

  routes.get("/user/installations/:id/repositories", (c) => {
    const account = requireUser(c);
    const installation = installationById(database, numberParam(c, "id"));
    if (installation === null || installation.account_id !== account.id) throw new RestError(404, "Not Found");
    const all = repositoriesOfInstallation(database, installation);
    const page = paginate(c, config.url, all);
    return c.json({
      total_count: all.length,
      repositories: page.map((repository) => repositoryShape(context, repository)),
    });
  });

  routes.get("/installation/repositories", (c) => {
    const caller = c.get("caller");
    if (caller.kind !== "installation")
      throw new RestError(403, "You must authenticate with an installation access token");
    const covered = repositoriesOfInstallation(database, caller.installation);
    const all = covered.filter((repository) => grantReaches(context, caller, repository));
    const page = paginate(c, config.url, all);
    return c.json({
      total_count: all.length,
      repository_selection: caller.installation.selection,
      repositories: page.map((repository) => repositoryShape(context, repository)),
    });
  });

  return routes;
}
