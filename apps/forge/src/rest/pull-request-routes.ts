import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { openPullRequest, setPullRequestState } from "../pull-requests.ts";
import { findPullRequest, listPullRequests, newPullRequestSchema } from "../state/pull-requests.ts";
import type { Repository } from "../state/repositories.ts";
import {
  type Access,
  actingAccount,
  authorizeByName,
  type RestContext,
  type RestEnvironment,
  repositoryName,
} from "./caller.ts";
import { numberParam, paginate, RestError, readBody } from "./rest-request.ts";
import { pullRequestShape } from "./shapes.ts";

const changeSchema = z.object({ state: z.enum(["open", "closed"]) });

/** Pull requests between branches of one repository; the forge has no forks and merges nothing. */
export function pullRequestRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const routes = new Hono<RestEnvironment>();

  function open(c: RestContext, access: Access): Repository {
    return authorizeByName(context, c.get("caller"), repositoryName(c), "pull_requests", access);
  }

  routes.get("/repos/:owner/:repo/pulls", (c) => {
    const repository = open(c, "read");
    const state = c.req.query("state") ?? "open";
    // `head` comes as owner:branch.
    const head = c.req.query("head")?.replace(/^[^:]*:/, "");
    const all = listPullRequests(context.database, repository.id);
    const wanted = all.filter((pull) => (state === "all" || pull.state === state) && (!head || pull.head === head));
    return c.json(paginate(c, context.config.url, wanted).map((pull) => pullRequestShape(context, repository, pull)));
  });

  routes.post("/repos/:owner/:repo/pulls", async (c) => {
    const repository = open(c, "write");
    const body = await readBody(c, newPullRequestSchema);
    const author = actingAccount(context, c.get("caller"));
    const pull = await openPullRequest(context, repository, author, {
      ...body,
      head: body.head.replace(/^[^:]*:/, ""),
    });
    if ("problem" in pull) throw new RestError(422, pull.problem);
    return c.json(pullRequestShape(context, repository, pull), 201);
  });

  routes.patch("/repos/:owner/:repo/pulls/:number", async (c) => {
    const repository = open(c, "write");
    const pull = findPullRequest(context.database, repository.id, numberParam(c, "number"));
    if (pull === null) throw new RestError(404, "Not Found");
    const { state } = await readBody(c, changeSchema);
    const sender = actingAccount(context, c.get("caller"));
    const changed = setPullRequestState(context, repository, { pull, state, sender });
    return c.json(pullRequestShape(context, repository, changed));
  });

  return routes;
}
