import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { insertAnnotation, listAnnotations, updateAnnotation } from "../state/annotations.ts";
import { annotationShape, base, existing, openRepository, shaOf } from "./annotations.ts";
import type { RestEnvironment } from "./caller.ts";
import { paginate, RestError, readBody } from "./rest-request.ts";
import { appShape } from "./shapes.ts";

const statusSchema = z.object({
  state: z.enum(["error", "failure", "pending", "success"]),
  target_url: z.string().nullish(),
  description: z.string().max(140).nullish(),
  context: z.string().default("default"),
});

const checkFields = {
  name: z.string().min(1),
  external_id: z.string().optional(),
  details_url: z.string().optional(),
  status: z.enum(["queued", "in_progress", "completed"]).optional(),
  conclusion: z
    .enum(["action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"])
    .optional(),
  output: z
    .object({ title: z.string(), summary: z.string().max(65_535), text: z.string().max(65_535).optional() })
    .optional(),
  actions: z
    .array(z.object({ label: z.string().max(20), description: z.string().max(40), identifier: z.string().max(20) }))
    .max(3)
    .optional(),
};
const newCheckSchema = z.object({ ...checkFields, head_sha: z.string() });
const checkChangeSchema = z.object(checkFields).partial();

type CheckChange = z.infer<typeof checkChangeSchema>;

/** As on GitHub, a conclusion completes a check run, and a completed one has a conclusion until it runs again. */
function settled(change: CheckChange, before: { readonly conclusion?: unknown } = {}): Record<string, unknown> {
  const status = change.conclusion === undefined ? change.status : "completed";
  if (status === undefined) return change;
  const conclusion = status === "completed" ? (change.conclusion ?? before.conclusion ?? null) : null;
  if (status === "completed" && conclusion === null) {
    throw new RestError(422, "Invalid request.\n\nA completed check run needs a conclusion.");
  }
  return { ...change, status, conclusion };
}

/** Commit statuses and check runs. Source: GitHub REST API, "Commit statuses" and "Check runs". */
export function checkRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const { database, config } = context;
  const routes = new Hono<RestEnvironment>();
  const shapeOf = (...[run]: Parameters<typeof annotationShape>) => ({
    ...annotationShape(run),
    head_sha: run.subject,
    app: appShape(context),
  });

  routes.post(`${base}/statuses/:sha`, async (c) => {
    const repository = openRepository(context, c, "statuses", "write");
    const subject = await shaOf(context, repository, c.req.param("sha"));
    const content = await readBody(c, statusSchema);
    const status = insertAnnotation(database, { repositoryId: repository.id, kind: "status", subject, content });
    return c.json(annotationShape(status), 201);
  });
  routes.get(`${base}/commits/:sha/statuses`, async (c) => {
    const repository = openRepository(context, c, "statuses", "read");
    const sha = await shaOf(context, repository, c.req.param("sha"));
    const all = listAnnotations(database, repository.id, "status", sha);
    return c.json(paginate(c, config.url, all).map(annotationShape));
  });

  routes.post(`${base}/check-runs`, async (c) => {
    const repository = openRepository(context, c, "checks", "write");
    const body = await readBody(c, newCheckSchema);
    const subject = await shaOf(context, repository, body.head_sha);
    const content = settled({ ...body, status: body.status ?? "queued" });
    const run = insertAnnotation(database, { repositoryId: repository.id, kind: "check_run", subject, content });
    return c.json(shapeOf(run), 201);
  });
  routes.get(`${base}/check-runs/:id`, (c) => {
    const repository = openRepository(context, c, "checks", "read");
    return c.json(shapeOf(existing(context, c, repository, "check_run")));
  });
  routes.patch(`${base}/check-runs/:id`, async (c) => {
    const run = existing(context, c, openRepository(context, c, "checks", "write"), "check_run");
    const change = settled(await readBody(c, checkChangeSchema), run.content);
    return c.json(shapeOf(updateAnnotation(database, run, change)));
  });
  routes.get(`${base}/commits/:sha/check-runs`, async (c) => {
    const repository = openRepository(context, c, "checks", "read");
    const sha = await shaOf(context, repository, c.req.param("sha"));
    const { check_name: name, filter = "latest" } = c.req.query();
    const named = listAnnotations(database, repository.id, "check_run", sha).filter(
      ({ content }) => name === undefined || content.name === name,
    );
    // Newest first: the first of a name is its latest.
    const names = named.map(({ content }) => content.name);
    const runs = filter === "all" ? named : named.filter(({ content }, index) => names.indexOf(content.name) === index);
    return c.json({ total_count: runs.length, check_runs: paginate(c, config.url, runs).map(shapeOf) });
  });
  return routes;
}
