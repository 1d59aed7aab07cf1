import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { createRepository } from "../repositories.ts";
import type { Account } from "../state/accounts.ts";
import { findAccount } from "../state/accounts.ts";
import { installationById, installationOfAccount, repositoriesOfInstallation } from "../state/installations.ts";
import { repositoryNameSchema } from "../state/repositories.ts";
import { grantReaches } from "./caller.ts";
import { RestError } from "./rest-error.ts";
import { numberParam, paginate, type RestContext, type RestEnvironment, readBody } from "./rest-request.ts";
import { installationShape, repositoryShape, viewerShape } from "./shapes.ts";

const newRepositorySchema = z.object({
  name: repositoryNameSchema,
  description: z.string().max(350).nullish(),
  private: z.boolean().default(false),
  auto_init: z.boolean().default(false),
});

/** Routes for users who authorized the App, and the list of an installation's repositories. */
export function userRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database, config } = context;
  const routes = new Hono<RestEnvironment>();

  const requireUser = (c: RestContext): Account => {
    const caller = c.get("caller");
    if (caller.kind !== "user")
      throw new RestError(caller.kind === "anonymous" ? 401 : 403, "Requires authentication as a user");
    return caller.account;
  };

  routes.get("/user", (c) => c.json(viewerShape(context, requireUser(c))));

  routes.get("/users/:login", (c) => {
    const account = findAccount(database, c.req.param("login"));
    if (account === null) throw new RestError(404, "Not Found");
    return c.json(viewerShape(context, account));
  });

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

  routes.post("/user/repos", async (c) => {
    const account = requireUser(c);
    const { auto_init: withReadme, description, ...input } = await readBody(c, newRepositorySchema);
    const repository = await createRepository(context, account, {
      ...input,
      description: description ?? null,
      withReadme,
      byApp: true,
    });
    if (repository === null) {
      const error = {
        resource: "Repository",
        code: "custom",
        field: "name",
        message: "name already exists on this account",
      };
      throw new RestError(422, "Repository creation failed.", [error]);
    }
    return c.json(repositoryShape(context, repository), 201);
  });

  return routes;
}
