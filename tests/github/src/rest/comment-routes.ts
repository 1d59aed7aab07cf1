import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { deleteAnnotation, insertAnnotation, listAnnotations, updateAnnotation } from "../state/annotations.ts";
import { findPullRequest } from "../state/pull-requests.ts";
import type { Repository } from "../state/repositories.ts";
import { annotationShape, base, existing } from "./annotations.ts";
import {
  type Access,
  actingAccount,
  authorizeByName,
  grantAllows,
  type RestContext,
  type RestEnvironment,
  repositoryName,
} from "./caller.ts";
import { numberParam, paginate, RestError, readBody } from "./rest-request.ts";
import { accountShape, appShape } from "./shapes.ts";

const commentSchema = z.object({ body: z.string().min(1).max(65_536) });

/** Comments of pull requests. Source: GitHub REST API, "Issue comments". */
export function commentRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database, config } = context;
  const routes = new Hono<RestEnvironment>();

  /** Either permission will do. */
  function open(c: RestContext, access: Access): Repository {
    const caller = c.get("caller");
    const byIssues = caller.kind === "installation" && grantAllows(caller.grant, "issues", access);
    return authorizeByName(context, caller, repositoryName(c), byIssues ? "issues" : "pull_requests", access);
  }
  function pullRequestNumber(c: RestContext, repository: Repository): string {
    const number = numberParam(c, "number");
    if (findPullRequest(database, repository.id, number) === null) throw new RestError(404, "Not Found");
    return String(number);
  }

  routes.post(`${base}/issues/:number/comments`, async (c) => {
    const repository = open(c, "write");
    const subject = pullRequestNumber(c, repository);
    const { body } = await readBody(c, commentSchema);
    const caller = c.get("caller");
    const user = accountShape(context, actingAccount(context, caller));
    const app = caller.kind === "installation" ? appShape(context) : null;
    const content = { body, user, performed_via_github_app: app };
    const comment = insertAnnotation(database, {
      repositoryId: repository.id,
      kind: "issue_comment",
      subject,
      content,
    });
    return c.json(annotationShape(comment), 201);
  });
  /** Oldest first, unlike other lists. */
  routes.get(`${base}/issues/:number/comments`, (c) => {
    const repository = open(c, "read");
    const all = listAnnotations(database, repository.id, "issue_comment", pullRequestNumber(c, repository));
    return c.json(paginate(c, config.url, all.toReversed()).map(annotationShape));
  });
  routes.patch(`${base}/issues/comments/:id`, async (c) => {
    const comment = existing(context, c, open(c, "write"), "issue_comment");
    return c.json(annotationShape(updateAnnotation(database, comment, await readBody(c, commentSchema))));
  });
  routes.delete(`${base}/issues/comments/:id`, (c) => {
    deleteAnnotation(database, existing(context, c, open(c, "write"), "issue_comment"));
    return c.body(null, 204);
  });
  return routes;
}
