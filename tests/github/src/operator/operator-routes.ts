import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { install } from "../installations.ts";
import { createRepository } from "../repositories.ts";
import { repositoryShape, viewerShape } from "../rest/shapes.ts";
import { createAccount, findAccount, loginSchema, newAccountSchema } from "../state/accounts.ts";
import { findRepository, repositoryNameSchema } from "../state/repositories.ts";
import { issueUserTokens, pushToken } from "../state/tokens.ts";

const loginOnlySchema = z.object({ login: loginSchema });
const repositorySchema = z.object({
  owner: loginSchema,
  name: repositoryNameSchema,
  description: z.string().nullable().default(null),
  private: z.boolean().default(false),
});

/** Calls of tests without a browser: accounts, the App on them, and repositories. Each is idempotent. */
export function operatorRoutes(context: ForgeContext): Hono {
  const { config, database } = context;
  const routes = new Hono();

  routes.post("/accounts", async (c) => {
    const input = newAccountSchema.parse(await c.req.json());
    const account = findAccount(database, input.login) ?? createAccount(database, input);
    return account ? c.json(viewerShape(context, account)) : c.json({ message: "Conflict" }, 409);
  });

  routes.post("/installations", async (c) => {
    const { login } = loginOnlySchema.parse(await c.req.json());
    const account = findAccount(database, login);
    if (account === null) return c.json({ message: "Not Found" }, 404);
    return c.json({ installation_id: install(context, account).installation.id });
  });

  routes.post("/user-tokens", async (c) => {
    const { login } = loginOnlySchema.parse(await c.req.json());
    const account = findAccount(database, login);
    if (account === null) return c.json({ message: "Not Found" }, 404);
    return c.json({ token: issueUserTokens(database, account.id).accessToken });
  });

  routes.post("/repositories", async (c) => {
    const { owner, ...input } = repositorySchema.parse(await c.req.json());
    const account = findAccount(database, owner);
    const found = findRepository(database, owner, input.name);
    const repository =
      found ?? (account && (await createRepository(context, account, { ...input, withReadme: false })));
    if (account === null || repository === null) return c.json({ message: "Not Found" }, 404);
    const pushUrl = new URL(`${config.url}/${repository.owner}/${repository.name}.git`);
    pushUrl.username = account.login;
    pushUrl.password = pushToken(config.app.clientSecret, account);
    return c.json({ repository: repositoryShape(context, repository), push_url: pushUrl.href });
  });

  return routes;
}
