import { createHash } from "node:crypto";
import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { branchCommit, listBranches } from "../git/bare-repository.ts";
import { readCommit } from "../git/objects.ts";
import { changeRepository, createRepository, ensureDirectory, forkRepository } from "../repositories.ts";
import { type Account, findAccount } from "../state/accounts.ts";
import { repositoryById, repositoryNameSchema } from "../state/repositories.ts";
import {
  actingAccount,
  authorize,
  authorizeByName,
  commitOf,
  grantAllows,
  type RestContext,
  type RestEnvironment,
  reading,
  repositoryName,
  requireUser,
} from "./caller.ts";
import { numberParam, paginate, RestError, readBody } from "./rest-request.ts";
import { commitShape, repositoryShape, viewerShape } from "./shapes.ts";

const changeSchema = z.object({ name: repositoryNameSchema.optional(), default_branch: z.string().min(1).optional() });

const newRepositorySchema = z.object({
  name: repositoryNameSchema,
  description: z.string().max(350).nullish(),
  private: z.boolean().default(false),
  auto_init: z.boolean().default(false),
});

/** The signed-in user; creating a repository; reading a repository, its branches and a commit. */
export function repositoryRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const routes = new Hono<RestEnvironment>();
  const apiUrl = `${context.config.url}/api/v3`;

  routes.get("/user", (c) => c.json(viewerShape(context, requireUser(c))));

  routes.post("/user/repos", (c) => create(c, requireUser(c)));

  /** With a token of the organization's installation that may write administration. */
  routes.post("/orgs/:org/repos", (c) => {
    const caller = c.get("caller");
    const account = findAccount(context.database, c.req.param("org"));
    if (caller.kind !== "installation" || account?.type !== "Organization") throw new RestError(404, "Not Found");
    const isAllowed = grantAllows(caller.grant, "administration", "write");
    if (!isAllowed || caller.installation.account_id !== account.id)
      throw new RestError(403, "Resource not accessible by integration");
    return create(c, account);
  });

  async function create(c: RestContext, account: Account) {
    const { auto_init: withReadme, description, ...input } = await readBody(c, newRepositorySchema);
    const repository = await createRepository(context, account, {
      ...input,
      description: description ?? null,
      withReadme,
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
  }

  routes.get("/repos/:owner/:repo", (c) => c.json(repositoryShape(context, reading(context, c, "metadata"))));

  routes.patch("/repos/:owner/:repo", async (c) => {
    const name = repositoryName(c);
    const repository = authorizeByName(context, c.get("caller"), name, "administration", "write");
    const change = await readBody(c, changeSchema);
    const changed = await changeRepository(context, repository, {
      change,
      sender: actingAccount(context, c.get("caller")),
    });
    if ("problem" in changed) throw new RestError(422, changed.problem);
    return c.json(repositoryShape(context, changed));
  });

  /** Unlike GitHub, the forge answers once the commits are copied, and names a fork like its parent. */
  routes.post("/repos/:owner/:repo/forks", async (c) => {
    const parent = reading(context, c, "metadata");
    const fork = await forkRepository(context, parent, requireUser(c));
    if (fork === null) throw new RestError(422, "name already exists on this account");
    const parentShape = repositoryShape(context, parent);
    return c.json({ ...repositoryShape(context, fork), parent: parentShape, source: parentShape }, 202);
  });

  routes.get("/repositories/:id", (c) => {
    const repository = repositoryById(context.database, numberParam(c, "id"));
    return c.json(repositoryShape(context, authorize(c.get("caller"), repository, "metadata", "read")));
  });

  routes.get("/repos/:owner/:repo/branches", async (c) => {
    const repository = reading(context, c);
    const branches = [...(await listBranches(await ensureDirectory(context, repository)))];
    const base = `${apiUrl}/repos/${repository.owner}/${repository.name}/commits`;
    const page = paginate(c, context.config.url, branches);
    const etag = `"${createHash("sha256").update(JSON.stringify(page)).digest("hex")}"`;
    c.header("etag", etag);
    if (c.req.header("if-none-match") === etag) return c.body(null, 304);
    return c.json(page.map(([name, sha]) => ({ name, commit: { sha, url: `${base}/${sha}` }, protected: false })));
  });

  routes.get("/repos/:owner/:repo/branches/:branch{.+}", async (c) => {
    const repository = reading(context, c);
    const directory = await ensureDirectory(context, repository);
    const name = c.req.param("branch");
    const sha = await branchCommit(directory, name);
    if (sha === null) throw new RestError(404, "Branch not found");
    return c.json({
      name,
      commit: commitShape(context, repository, await readCommit(directory, sha)),
      protected: false,
    });
  });

  routes.get("/repos/:owner/:repo/commits/:ref{.+}", async (c) => {
    const { repository, directory, sha } = await commitOf(context, c, c.req.param("ref"));
    return c.json(commitShape(context, repository, await readCommit(directory, sha)));
  });

  return routes;
}
