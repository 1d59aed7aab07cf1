import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { resolveCommit } from "../git/bare-repository.ts";
import { ensureDirectory } from "../repositories.ts";
import {
  type Annotation,
  type AnnotationKind,
  findAnnotation,
  insertAnnotation,
  listAnnotations,
  updateAnnotation,
} from "../state/annotations.ts";
import { findPullRequest } from "../state/pull-requests.ts";
import type { Repository } from "../state/repositories.ts";
import {
  type Access,
  actingAccount,
  authorizeByName,
  type Permission,
  type RestContext,
  type RestEnvironment,
  repositoryName,
} from "./caller.ts";
import { numberParam, paginate, RestError, readBody } from "./rest-request.ts";
import { accountShape } from "./shapes.ts";

const description = z.string().max(140).nullish();
const checkRunSchema = z.looseObject({
  name: z.string(),
  head_sha: z.string(),
  status: z.enum(["queued", "in_progress", "completed"]).default("queued"),
  conclusion: z.string().nullish(),
});

/** Everything that an App can report, with the permission that it needs and the schema of its body. */
const kinds = {
  status: {
    permission: "statuses",
    body: z.object({
      state: z.enum(["error", "failure", "pending", "success"]),
      target_url: z.string().nullish(),
      description,
      context: z.string().default("default"),
    }),
  },
  check_run: { permission: "checks", body: checkRunSchema },
  deployment: {
    permission: "deployments",
    body: z.looseObject({ ref: z.string(), environment: z.string().default("production"), description }),
  },
  deployment_status: {
    permission: "deployments",
    body: z.object({
      state: z.enum(["error", "failure", "inactive", "in_progress", "queued", "pending", "success"]),
      log_url: z.string().nullish(),
      environment_url: z.string().nullish(),
      description,
    }),
  },
  issue_comment: { permission: "issues", body: z.object({ body: z.string().min(1).max(65_536) }) },
} as const satisfies Record<AnnotationKind, { permission: Permission; body: z.ZodType }>;

const shape = ({ id, content, created_at, updated_at }: Annotation) => ({ ...content, id, created_at, updated_at });

/** Commit statuses, check runs, deployments and pull request comments: only stored and returned. */
export function annotationRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database } = context;
  const routes = new Hono<RestEnvironment>();
  const base = "/repos/:owner/:repo";

  const open = (c: RestContext, kind: AnnotationKind, access: Access): Repository =>
    authorizeByName(context, c.get("caller"), repositoryName(c), kinds[kind].permission, access);

  async function shaOf(repository: Repository, ref: string): Promise<string> {
    const sha = await resolveCommit(await ensureDirectory(context, repository), ref);
    if (sha === null) throw new RestError(422, `No commit found for ref: ${ref}`);
    return sha;
  }
  function existing(c: RestContext, repository: Repository, kind: AnnotationKind): Annotation {
    const found = findAnnotation(database, repository.id, kind, numberParam(c, "id"));
    if (found === null) throw new RestError(404, "Not Found");
    return found;
  }
  const add = (repository: Repository, kind: AnnotationKind, subject: string, content: Record<string, unknown>) =>
    shape(insertAnnotation(database, { repositoryId: repository.id, kind, subject, content }));
  const list = (c: RestContext, repository: Repository, kind: AnnotationKind, subject?: string) =>
    paginate(c, context.config.url, listAnnotations(database, repository.id, kind, subject)).map(shape);

  routes.post(`${base}/statuses/:sha`, async (c) => {
    const repository = open(c, "status", "write");
    const sha = await shaOf(repository, c.req.param("sha"));
    return c.json(add(repository, "status", sha, await readBody(c, kinds.status.body)), 201);
  });
  routes.get(`${base}/statuses/:sha`, async (c) => {
    const repository = open(c, "status", "read");
    return c.json(list(c, repository, "status", await shaOf(repository, c.req.param("sha"))));
  });

  routes.post(`${base}/check-runs`, async (c) => {
    const repository = open(c, "check_run", "write");
    const body = await readBody(c, checkRunSchema);
    return c.json(add(repository, "check_run", await shaOf(repository, body.head_sha), body), 201);
  });
  routes.patch(`${base}/check-runs/:id`, async (c) => {
    const run = existing(c, open(c, "check_run", "write"), "check_run");
    const change = await readBody(c, checkRunSchema.partial().omit({ head_sha: true }));
    return c.json(shape(updateAnnotation(database, run, change)));
  });

  routes.post(`${base}/deployments`, async (c) => {
    const repository = open(c, "deployment", "write");
    const body = await readBody(c, kinds.deployment.body);
    const sha = await shaOf(repository, body.ref);
    return c.json(add(repository, "deployment", sha, { ...body, sha }), 201);
  });
  routes.get(`${base}/deployments`, (c) => c.json(list(c, open(c, "deployment", "read"), "deployment")));
  routes.post(`${base}/deployments/:id/statuses`, async (c) => {
    const repository = open(c, "deployment_status", "write");
    const { id } = existing(c, repository, "deployment");
    const body = await readBody(c, kinds.deployment_status.body);
    return c.json(add(repository, "deployment_status", String(id), body), 201);
  });
  routes.get(`${base}/deployments/:id/statuses`, (c) => {
    const repository = open(c, "deployment_status", "read");
    return c.json(list(c, repository, "deployment_status", String(existing(c, repository, "deployment").id)));
  });

  routes.post(`${base}/issues/:number/comments`, async (c) => {
    const repository = open(c, "issue_comment", "write");
    const number = numberParam(c, "number");
    if (findPullRequest(database, repository.id, number) === null) throw new RestError(404, "Not Found");
    const { body } = await readBody(c, kinds.issue_comment.body);
    const user = accountShape(context, actingAccount(context, c.get("caller")));
    return c.json(add(repository, "issue_comment", String(number), { body, user }), 201);
  });
  routes.get(`${base}/issues/:number/comments`, (c) =>
    c.json(list(c, open(c, "issue_comment", "read"), "issue_comment", String(numberParam(c, "number")))),
  );
  routes.patch(`${base}/issues/comments/:id`, async (c) => {
    const comment = existing(c, open(c, "issue_comment", "write"), "issue_comment");
    return c.json(shape(updateAnnotation(database, comment, await readBody(c, kinds.issue_comment.body))));
  });

  return routes;
}
