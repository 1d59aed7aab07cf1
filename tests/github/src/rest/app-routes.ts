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
  repository_ids: z.array(z.number().int()).max(500).optional(),
  permissions: permissionsSchema.optional(),
});

/** Throws 422 for permissions that the App doesn't have. */
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

/** The repository ids, all covered by the installation; null for the whole installation. */
function narrowRepositories(
  { database }: ForgeContext,
  installation: Installation,
  ids: number[] | undefined,
): number[] | null {
  if (ids === undefined) return null;
  const covered = new Set(repositoriesOfInstallation(database, installation).map(({ id }) => id));
  if (ids.every((id) => covered.has(id))) return ids;
  throw new RestError(
    422,
    "There is at least one repository that does not exist or is not accessible to the parent installation.",
  );
}

function requireInstallation(installation: Installation | null): Installation {
  if (installation === null) throw new RestError(404, "Not Found");
  return installation;
}

/** Routes for the App itself, authenticated by its JWT. */
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
    const repositoryIds = narrowRepositories(context, installation, request.repository_ids);
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
      repository_selection: repositoryIds ? "selected" : "all",
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

/** A user's installations, and the repositories that each covers. */
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
    const all = covered.filter((repository) => grantReaches(caller, repository));
    const page = paginate(c, config.url, all);
    return c.json({
      total_count: all.length,
      repository_selection: "all",
      repositories: page.map((repository) => repositoryShape(context, repository)),
    });
  });

  return routes;
}
