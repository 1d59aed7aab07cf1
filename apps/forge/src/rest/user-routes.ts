import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { createRepository } from "../repositories.ts";
import { findAccount } from "../state/accounts.ts";
import { repositoryNameSchema } from "../state/repositories.ts";
import { RestError } from "./rest-error.ts";
import { type RestEnvironment, readBody, requireUser } from "./rest-request.ts";
import { repositoryShape, viewerShape } from "./shapes.ts";

const newRepositorySchema = z.object({
  name: repositoryNameSchema,
  description: z.string().max(350).nullish(),
  private: z.boolean().default(false),
  auto_init: z.boolean().default(false),
});

/** Routes for users who authorized the App. */
export function userRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database } = context;
  const routes = new Hono<RestEnvironment>();

  routes.get("/user", (c) => c.json(viewerShape(context, requireUser(c))));

  routes.get("/users/:login", (c) => {
    const account = findAccount(database, c.req.param("login"));
    if (account === null) throw new RestError(404, "Not Found");
    return c.json(viewerShape(context, account));
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
