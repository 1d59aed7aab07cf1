import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { headOf, openPullRequest, setPullRequestState } from "../pull-requests.ts";
import { findPullRequest, listPullRequests, newPullRequestSchema, type PullRequest } from "../state/pull-requests.ts";
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

/** Pull requests between branches of one repository, and from forks. The forge merges nothing. */
export function pullRequestRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const routes = new Hono<RestEnvironment>();

  function open(c: RestContext, access: Access): Repository {
    return authorizeByName(context, c.get("caller"), repositoryName(c), "pull_requests", access);
  }

  /** People with read access may open pull requests from their fork, and close their own. */
  function openFor(c: RestContext, headOwnerId: number | null | undefined): Repository {
    const caller = c.get("caller");
    return open(c, caller.kind === "user" && caller.account.id === headOwnerId ? "read" : "write");
  }

  function pullOf(c: RestContext, repository: Repository): PullRequest {
    const pull = findPullRequest(context.database, repository.id, numberParam(c, "number"));
    if (pull === null) throw new RestError(404, "Not Found");
    return pull;
  }

  routes.get("/repos/:owner/:repo/pulls", (c) => {
    const repository = open(c, "read");
    const state = c.req.query("state") ?? "open";
    // As owner:branch. Like GitHub, it ignores a branch alone.
    const head = c.req.query("head");
    const all = listPullRequests(context.database, repository.id)
      .filter((pull) => state === "all" || pull.state === state)
      .map((pull) => pullRequestShape(context, repository, pull));
    const matching = head?.includes(":") ? all.filter((pull) => pull.head.label === head) : all;
    return c.json(paginate(c, context.config.url, matching));
  });

  routes.get("/repos/:owner/:repo/pulls/:number", (c) => {
    const repository = open(c, "read");
    return c.json(pullRequestShape(context, repository, pullOf(c, repository)));
  });

  routes.post("/repos/:owner/:repo/pulls", async (c) => {
    const body = await readBody(c, newPullRequestSchema);
    const repository = openFor(c, headOf(context, open(c, "read"), body.head)?.repository.owner_id);
    const author = actingAccount(context, c.get("caller"));
    const pull = await openPullRequest(context, repository, author, body);
    if ("problem" in pull) throw new RestError(422, pull.problem);
    return c.json(pullRequestShape(context, repository, pull), 201);
  });

  routes.patch("/repos/:owner/:repo/pulls/:number", async (c) => {
    const pull = pullOf(c, open(c, "read"));
    const repository = openFor(c, pull.author_id);
    const { state } = await readBody(c, changeSchema);
    const sender = actingAccount(context, c.get("caller"));
    const changed = await setPullRequestState(context, repository, { pull, state, sender });
    if ("problem" in changed) throw new RestError(422, changed.problem);
    return c.json(pullRequestShape(context, repository, changed));
  });

  return routes;
}
