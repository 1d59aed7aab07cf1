import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { type Annotation, insertAnnotation, listAnnotations } from "../state/annotations.ts";
import { annotationShape, base, existing, openRepository, shaOf } from "./annotations.ts";
import type { RestEnvironment } from "./caller.ts";
import { paginate, readBody } from "./rest-request.ts";

const description = z.string().max(140).nullish();

const deploymentSchema = z.object({
  ref: z.string(),
  task: z.string().default("deploy"),
  auto_merge: z.boolean().default(true),
  required_contexts: z.array(z.string()).optional(),
  payload: z.union([z.record(z.string(), z.unknown()), z.string()]).default(""),
  environment: z.string().min(1).max(255).default("production"),
  description,
  transient_environment: z.boolean().default(false),
  production_environment: z.boolean().optional(),
});

const statusSchema = z.object({
  state: z.enum(["error", "failure", "inactive", "in_progress", "queued", "pending", "success"]),
  log_url: z.string().nullish(),
  environment_url: z.string().nullish(),
  description,
  auto_inactive: z.boolean().default(true),
});

/** Deployments and their statuses. Source: GitHub REST API, "Deployments". */
export function deploymentRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database, config } = context;
  const routes = new Hono<RestEnvironment>();
  const statusesOf = (repositoryId: number, deployment: Annotation) =>
    listAnnotations(database, repositoryId, "deployment_status", String(deployment.id));

  routes.post(`${base}/deployments`, async (c) => {
    const repository = openRepository(context, c, "deployments", "write");
    const body = await readBody(c, deploymentSchema);
    const sha = await shaOf(context, repository, body.ref);
    const content = { production_environment: body.environment === "production", ...body, sha };
    const of = { repositoryId: repository.id, kind: "deployment", subject: sha } as const;
    return c.json(annotationShape(insertAnnotation(database, { ...of, content })), 201);
  });
  routes.get(`${base}/deployments`, (c) => {
    const repository = openRepository(context, c, "deployments", "read");
    const { sha, environment } = c.req.query();
    const all = listAnnotations(database, repository.id, "deployment").filter(
      ({ content }) =>
        (sha === undefined || content.sha === sha) &&
        (environment === undefined || content.environment === environment),
    );
    return c.json(paginate(c, config.url, all).map(annotationShape));
  });
  routes.post(`${base}/deployments/:id/statuses`, async (c) => {
    const repository = openRepository(context, c, "deployments", "write");
    const deployment = existing(context, c, repository, "deployment");
    const content = await readBody(c, statusSchema);
    const add = (to: Annotation, of: Record<string, unknown>) =>
      insertAnnotation(database, {
        repositoryId: repository.id,
        kind: "deployment_status",
        subject: String(to.id),
        content: of,
      });
    const status = add(deployment, { ...content, environment: deployment.content.environment });
    if (content.state === "success" && content.auto_inactive) {
      // Those before it in its environment, except of transient and production environments.
      const replaced = listAnnotations(database, repository.id, "deployment").filter(
        (each) =>
          each.id < deployment.id &&
          each.content.environment === deployment.content.environment &&
          each.content.transient_environment !== true &&
          each.content.production_environment !== true &&
          statusesOf(repository.id, each)[0]?.content.state === "success",
      );
      for (const each of replaced) add(each, { state: "inactive", environment: each.content.environment });
    }
    return c.json(annotationShape(status), 201);
  });
  routes.get(`${base}/deployments/:id/statuses`, (c) => {
    const repository = openRepository(context, c, "deployments", "read");
    const all = statusesOf(repository.id, existing(context, c, repository, "deployment"));
    return c.json(paginate(c, config.url, all).map(annotationShape));
  });
  return routes;
}
