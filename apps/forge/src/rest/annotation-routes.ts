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
import { type Access, actingAccount, authorizeByName, type Permission } from "./caller.ts";
import { RestError } from "./rest-error.ts";
import {
  numberParam,
  paginate,
  type RestContext,
  type RestEnvironment,
  readBody,
  repositoryName,
} from "./rest-request.ts";
import { accountShape } from "./shapes.ts";

const permissionOf: Record<AnnotationKind, Permission> = {
  status: "statuses",
  check_run: "checks",
  deployment: "deployments",
  deployment_status: "deployments",
  issue_comment: "issues",
};

const statusSchema = z.object({
  state: z.enum(["error", "failure", "pending", "success"]),
  target_url: z.string().nullish(),
  description: z.string().max(140).nullish(),
  context: z.string().default("default"),
});
const deploymentSchema = z.object({
  ref: z.string(),
  environment: z.string().default("production"),
  description: z.string().nullish(),
  payload: z.unknown().optional(),
  production_environment: z.boolean().optional(),
  transient_environment: z.boolean().optional(),
});
const deploymentStatusSchema = z.object({
  state: z.enum(["error", "failure", "inactive", "in_progress", "queued", "pending", "success"]),
  log_url: z.string().nullish(),
  environment_url: z.string().nullish(),
  description: z.string().max(140).nullish(),
});
const checkRunSchema = z.looseObject({
  name: z.string(),
  head_sha: z.string(),
  status: z.enum(["queued", "in_progress", "completed"]).default("queued"),
  conclusion: z.string().nullish(),
});
const checkRunChangeSchema = checkRunSchema.partial().omit({ head_sha: true });
const commentSchema = z.object({ body: z.string().min(1).max(65_536) });

const shape = ({ id, content, created_at, updated_at }: Annotation) => ({ ...content, id, created_at, updated_at });

/** Opens, finds, adds and lists annotations of the repository in the path. */
function annotationAccess(context: ForgeContext) {
  const { database } = context;

  function open(c: RestContext, kind: AnnotationKind, access: Access): Repository {
    return authorizeByName(context, c.get("caller"), repositoryName(c), permissionOf[kind], access);
  }

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

  function insert(repository: Repository, kind: AnnotationKind, subject: string, content: Record<string, unknown>) {
    return shape(insertAnnotation(database, { repositoryId: repository.id, kind, subject, content }));
  }

  function list(c: RestContext, repository: Repository, kind: AnnotationKind, subject?: string) {
    return paginate(c, context.config.url, listAnnotations(database, repository.id, kind, subject)).map(shape);
  }

  return { open, shaOf, existing, insert, list };
}

/** Commit statuses and check runs: stored and given back. */
export function commitReportRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database } = context;
  const routes = new Hono<RestEnvironment>();
  const { open, shaOf, existing, insert, list } = annotationAccess(context);

  routes.post("/repos/:owner/:repo/statuses/:sha", async (c) => {
    const repository = open(c, "status", "write");
    const sha = await shaOf(repository, c.req.param("sha"));
    return c.json(insert(repository, "status", sha, await readBody(c, statusSchema)), 201);
  });
  routes.get("/repos/:owner/:repo/statuses/:sha", async (c) => {
    const repository = open(c, "status", "read");
    return c.json(list(c, repository, "status", await shaOf(repository, c.req.param("sha"))));
  });

  routes.post("/repos/:owner/:repo/check-runs", async (c) => {
    const repository = open(c, "check_run", "write");
    const body = await readBody(c, checkRunSchema);
    return c.json(insert(repository, "check_run", await shaOf(repository, body.head_sha), body), 201);
  });
  routes.patch("/repos/:owner/:repo/check-runs/:id", async (c) => {
    const run = existing(c, open(c, "check_run", "write"), "check_run");
    return c.json(shape(updateAnnotation(database, run, await readBody(c, checkRunChangeSchema))));
  });

  return routes;
}

/** Deployments and their statuses: stored and given back. */
export function deploymentRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const routes = new Hono<RestEnvironment>();
  const { open, shaOf, existing, insert, list } = annotationAccess(context);

  routes.post("/repos/:owner/:repo/deployments", async (c) => {
    const repository = open(c, "deployment", "write");
    const body = await readBody(c, deploymentSchema);
    const sha = await shaOf(repository, body.ref);
    return c.json(insert(repository, "deployment", sha, { ...body, sha }), 201);
  });
  routes.get("/repos/:owner/:repo/deployments", (c) => c.json(list(c, open(c, "deployment", "read"), "deployment")));
  routes.post("/repos/:owner/:repo/deployments/:id/statuses", async (c) => {
    const repository = open(c, "deployment_status", "write");
    const { id } = existing(c, repository, "deployment");
    return c.json(insert(repository, "deployment_status", String(id), await readBody(c, deploymentStatusSchema)), 201);
  });
  routes.get("/repos/:owner/:repo/deployments/:id/statuses", (c) => {
    const repository = open(c, "deployment_status", "read");
    return c.json(list(c, repository, "deployment_status", String(existing(c, repository, "deployment").id)));
  });

  return routes;
}

/** Comments on pull requests: stored, given back, and shown on the pull request's page. */
export function commentRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database } = context;
  const routes = new Hono<RestEnvironment>();
  const { open, existing, insert, list } = annotationAccess(context);

  routes.post("/repos/:owner/:repo/issues/:number/comments", async (c) => {
    const repository = open(c, "issue_comment", "write");
    const number = numberParam(c, "number");
    if (findPullRequest(database, repository.id, number) === null) throw new RestError(404, "Not Found");
    const { body } = await readBody(c, commentSchema);
    const user = accountShape(context, actingAccount(context, c.get("caller")));
    return c.json(insert(repository, "issue_comment", String(number), { body, user }), 201);
  });
  routes.get("/repos/:owner/:repo/issues/:number/comments", (c) => {
    const repository = open(c, "issue_comment", "read");
    return c.json(list(c, repository, "issue_comment", String(numberParam(c, "number"))));
  });
  routes.patch("/repos/:owner/:repo/issues/comments/:id", async (c) => {
    const comment = existing(c, open(c, "issue_comment", "write"), "issue_comment");
    return c.json(shape(updateAnnotation(database, comment, await readBody(c, commentSchema))));
  });

  return routes;
}
