import { Hono } from "hono";
import { z } from "zod";
import { appPermissions, type ForgeContext } from "../forge.context.ts";
import { findAccount } from "../state/accounts.ts";
import { timestamp } from "../state/database.ts";
import {
  type Installation,
  installationById,
  installationOfAccount,
  installationOfRepository,
  repositoriesOfInstallation,
} from "../state/installations.ts";
import { findRepository } from "../state/repositories.ts";
import { createInstallationToken, type Permissions, permissionsSchema } from "../state/tokens.ts";
import { grantReaches, type RestEnvironment, requireApp, requireUser } from "./caller.ts";
import { numberParam, paginate, RestError, readBody } from "./rest-request.ts";
import { appShape, installationShape, repositoryShape } from "./shapes.ts";

const tokenRequestSchema = z.object({
  repositories: z.array(z.string()).max(500).optional(),
  repository_ids: z.array(z.number().int()).max(500).optional(),
  permissions: permissionsSchema.optional(),
});

/** Only what the App has, and no more of it. */
function narrowPermissions(requested: Permissions | undefined): Permissions {
  const granted: Permissions = { ...appPermissions };
  if (requested === undefined) return granted;
  for (const [name, access] of Object.entries(requested)) {
    const given = granted[name];
    if (given === undefined || (given === "read" && access === "write")) {
      throw new RestError(422, "The permissions requested are not granted to this installation.");
    }
  }
  return { ...requested, metadata: "read" };
}

function narrowRepositories(
  context: ForgeContext,
  installation: Installation,
  request: z.infer<typeof tokenRequestSchema>,
): number[] | null {
  const { repositories: names, repository_ids: ids } = request;
  if (names === undefined && ids === undefined) return null;
  const reachable = repositoriesOfInstallation(context.database, installation);
  const byId = (ids ?? []).map((id) => reachable.find((repository) => repository.id === id)?.id);
  const byName = (names ?? []).map(
    (name) => reachable.find((repository) => repository.name.toLowerCase() === name.toLowerCase())?.id,
  );
  const found = [...byId, ...byName];
  if (found.includes(undefined)) {
    throw new RestError(
      422,
      "There is at least one repository that does not exist or is not accessible to the parent installation.",
    );
  }
  return found.filter((id) => id !== undefined);
}

function requireInstallation(installation: Installation | null): Installation {
  if (installation === null) throw new RestError(404, "Not Found");
  return installation;
}

/** Routes for the App itself, with its JWT. */
export function appRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database } = context;
  const routes = new Hono<RestEnvironment>();

  routes.get("/app", (c) => {
    requireApp(c);
    return c.json(appShape(context));
  });

  routes.get("/app/installations/:id", (c) => {
    requireApp(c);
    const installation = requireInstallation(installationById(database, numberParam(c, "id")));
    return c.json(installationShape(context, installation));
  });

  routes.post("/app/installations/:id/access_tokens", async (c) => {
    requireApp(c);
    const installation = requireInstallation(installationById(database, numberParam(c, "id")));
    const request = await readBody(c, tokenRequestSchema);
    const repositoryIds = narrowRepositories(context, installation, request);
    const permissions = narrowPermissions(request.permissions);
    const { token, expiresAt } = createInstallationToken(database, {
      installationId: installation.id,
      repositoryIds,
      permissions,
    });
    const repositories = repositoriesOfInstallation(database, installation).filter(({ id }) =>
      repositoryIds?.includes(id),
    );
    const answer = {
      token,
      expires_at: timestamp(expiresAt),
      permissions,
      repository_selection: repositoryIds ? "selected" : installation.selection,
      ...(repositoryIds && { repositories: repositories.map((repository) => repositoryShape(context, repository)) }),
    };
    return c.json(answer, 201);
  });

  routes.get("/repos/:owner/:repo/installation", (c) => {
    requireApp(c);
    const repository = findRepository(database, c.req.param("owner"), c.req.param("repo"));
    const installation = requireInstallation(repository && installationOfRepository(database, repository));
    return c.json(installationShape(context, installation));
  });

  routes.get("/users/:login/installation", (c) => {
    requireApp(c);
    const account = findAccount(database, c.req.param("login"));
    const installation = requireInstallation(account && installationOfAccount(database, account.id));
    return c.json(installationShape(context, installation));
  });

  return routes;
}

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
