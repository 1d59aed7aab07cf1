import { forgeOperatorToken } from "@towpath/github";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { diskFull, isDiskFull } from "../disk-full.ts";
import type { ForgeContext } from "../forge.context.ts";
import { includeRepository, install } from "../installations.ts";
import { createRepository, deleteRepository, withMaker } from "../repositories.ts";
import { repositoryShape, viewerShape } from "../rest/shapes.ts";
import { accountById, createAccount, findAccount, loginSchema, newAccountSchema } from "../state/accounts.ts";
import { installationOfAccount } from "../state/installations.ts";
import {
  findRepository,
  repositoryById,
  repositoryNameSchema,
  touchRepository,
  unchangedTerminalRepositories,
} from "../state/repositories.ts";
import { pushToken, sameSecret } from "../state/tokens.ts";

const installationSchema = z.object({ login: loginSchema });
const repositorySchema = z.object({
  owner: loginSchema,
  name: repositoryNameSchema,
  description: z.string().max(350).default(""),
  private: z.boolean().default(false),
});
const unchangedSchema = z.object({ unchanged_since: z.iso.datetime() });

/**
 * What the platform's command line needs to deploy a directory: an account, the App on it, a repository and a URL to
 * push to. Each call creates what is missing; the calls are idempotent. And what the platform needs to remove such
 * repositories when no server is left that is built from them.
 */
export function operatorRoutes(context: ForgeContext): Hono {
  const { config, database } = context;
  const routes = new Hono();
  const token = forgeOperatorToken(config.app.clientSecret);

  routes.get("/forge", (c) => c.json({ name: "towpath-forge" }));

  routes.use(bodyLimit({ maxSize: 64 * 1024 }));
  routes.use(async (c, next) => {
    const given = /^Bearer (\S+)$/.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
    if (!sameSecret(given, token)) return c.json({ message: "Bad credentials" }, 401);
    await next();
  });

  routes.post("/accounts", async (c) => {
    const input = newAccountSchema.parse(await c.req.json());
    const account = findAccount(database, input.login) ?? createAccount(database, input);
    if (account === null) return c.json({ message: "Account was made at the same time" }, 409);
    return c.json(viewerShape(context, account));
  });

  routes.post("/installations", async (c) => {
    const { login } = installationSchema.parse(await c.req.json());
    const account = findAccount(database, login);
    if (account === null) return c.json({ message: "Not Found" }, 404);
    const existing = installationOfAccount(database, account.id);
    const { id } = existing ?? install(context, account, { selection: "all" }).installation;
    return c.json({ installation_id: id });
  });

  routes.post("/repositories", async (c) => {
    const { owner, ...input } = repositorySchema.parse(await c.req.json());
    const account = findAccount(database, owner);
    if (account === null) return c.json({ message: "Not Found" }, 404);
    const wanted = { ...input, description: input.description || null, withReadme: false, byApp: true };
    const found =
      findRepository(database, owner, input.name) ??
      (await createRepository(context, account, { ...wanted, madeBy: "terminal" })) ??
      findRepository(database, owner, input.name);
    const repository = found && (await withMaker(context, found));
    // The terminal replaces a repository's content, so it must not get one that a person created.
    if (repository?.made_by !== "terminal") return c.json({ message: "This repository was made by a person" }, 409);
    includeRepository(context, repository);
    // A push follows, so the clean-up leaves it alone for a day.
    touchRepository(database, repository.id);
    const cloneUrl = `${config.url}/${repository.owner}/${repository.name}.git`;
    const pushUrl = new URL(cloneUrl);
    pushUrl.username = account.login;
    pushUrl.password = pushToken(config.app.clientSecret, account);
    return c.json({ repository: repositoryShape(context, repository), clone_url: cloneUrl, push_url: pushUrl.href });
  });

  routes.get("/repositories", (c) => {
    const { unchanged_since: since } = unchangedSchema.parse(c.req.query());
    const found = unchangedTerminalRepositories(database, since);
    return c.json(found.map(({ id, owner, name }) => ({ id, full_name: `${owner}/${name}` })));
  });

  routes.delete("/repositories/:id", async (c) => {
    const { unchanged_since: since } = unchangedSchema.parse(c.req.query());
    const repository = repositoryById(database, Number(c.req.param("id")));
    const owner = repository && accountById(database, repository.owner_id);
    if (!repository || !owner) return c.json({ message: "Not Found" }, 404);
    if (repository.made_by !== "terminal") return c.json({ message: "This repository was made by a person" }, 409);
    if (repository.updated_at >= since) return c.json({ message: "This repository has changed since" }, 409);
    await deleteRepository(context, repository, owner);
    return c.body(null, 204);
  });

  routes.all("*", (c) => c.json({ message: "Not Found" }, 404));
  routes.onError((error, c) => {
    if (error instanceof z.ZodError)
      return c.json({ message: error.issues.map((issue) => issue.message).join(" ") }, 422);
    if (error instanceof SyntaxError) return c.json({ message: "Problems parsing JSON" }, 400);
    context.log.error({ err: error }, "operator call broke");
    if (isDiskFull(error)) return c.json({ message: diskFull.message }, diskFull.status);
    return c.json({ message: "Server Error" }, 500);
  });
  return routes;
}
