import { authorizeProject, withAccess } from "@towpath/core/authorize";
import type { FullContext } from "@towpath/core/context";
import { notFound } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { tokenContext } from "~/http/caller.server.ts";
import { parseJsonObject, readBody, respond } from "~/http/request.server.ts";
import { type Operation, organizationSlug, projectOf, requireOperator, requirePermission } from "./operation.server.ts";
import { requestSchema } from "./request-schema.ts";
import { refuseRepeated, refuseUnknown } from "./unknown-fields.ts";

const prefix = "/api/v1";
const maxBodyBytes = 64 * 1024;
const nothing = { type: "object", additionalProperties: false };

/** Answers a request below `/api/v1` with the operation of its method and path (OPS-4). */
export const dispatch = (request: Request, operations: readonly Operation[]): Promise<Response> =>
  respond(request, async () => {
    const { pathname, searchParams } = new URL(request.url);
    const segments = pathname.slice(prefix.length).split("/").slice(1).map(decodeURIComponent);
    const ofPath = operations.flatMap((operation) => {
      const params = paramsOf(operation.path, segments);
      return params ? [{ operation, params }] : [];
    });
    const found = ofPath.find(({ operation }) => operation.method === request.method);
    if (!found) return unknownOperation(request, ofPath);
    const { operation, params } = found;
    const answer = await run(operation, params, request, searchParams);
    return answer instanceof Response ? answer : Response.json(answer);
  });

/** Checks the caller, the permission and the input, in this order. */
async function run(
  operation: Operation,
  params: Readonly<Record<string, string>>,
  request: Request,
  search: URLSearchParams,
): Promise<unknown> {
  // A public operation uses no context.
  const caller = operation.permission === "public" ? ({} as FullContext) : await tokenContext(request);
  if (operation.permission === "operator") requireOperator(caller);
  const { ctx, project, orgSlug } = await scopeOf(operation, params, caller);
  const given = Object.fromEntries(search);
  refuseUnknown("parameter", operation.query ? requestSchema(operation.query) : nothing, given);
  refuseRepeated(search);
  const query = operation.query && parseInput(operation.query, given);
  const isRead = operation.method === "GET" || operation.bodyMediaTypes !== undefined;
  const body = isRead ? undefined : await bodyOf(operation, request);
  return operation.handle({ ctx, request, params: params as never, query, body, project: project as never, orgSlug });
}

async function bodyOf(operation: Operation, request: Request): Promise<unknown> {
  const bytes = await readBody(request, operation.maxBodyBytes ?? maxBodyBytes);
  if (!operation.body && bytes.length === 0) return undefined;
  const sent = parseJsonObject(bytes);
  refuseUnknown("field", operation.body ? requestSchema(operation.body) : nothing, sent);
  return operation.body && parseInput(operation.body, sent);
}

async function scopeOf(operation: Operation, params: Readonly<Record<string, string>>, ctx: FullContext) {
  const { permission } = operation;
  if (params.name !== undefined && permission !== "public" && permission !== "operator") {
    const project = await projectOf(ctx, params.name);
    const access = await authorizeProject(ctx, permission, { projectId: project.id });
    return { ctx: withAccess(ctx, access), project, orgSlug: project.orgSlug };
  }
  if (params.slug === undefined) return { ctx, project: null, orgSlug: "" };
  const orgSlug = await organizationSlug(ctx, params.slug);
  await requirePermission(ctx, permission, orgSlug);
  return { ctx, project: null, orgSlug };
}

/** The parameters of a path such as `/projects/{name}`; null when it isn't of this form. */
function paramsOf(path: string, segments: readonly string[]): Readonly<Record<string, string>> | null {
  const parts = path.split("/").slice(1);
  if (parts.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const [given = "", name] = [segments[at], /^\{(\w+)\}$/.exec(part)?.[1]];
    if (name === undefined ? part !== given : given === "") return null;
    if (name !== undefined) params[name] = given;
  }
  return params;
}

/** 404, or 405 for a path that has other methods. */
function unknownOperation(request: Request, ofPath: readonly { readonly operation: Operation }[]): Response {
  if (ofPath.length === 0) throw notFound("operation; see /api/v1/openapi.json");
  const allow = ofPath.map(({ operation }) => operation.method).join(", ");
  const message = `${request.method} is not possible here, only ${allow}.`;
  return Response.json({ error: { code: "not_found", message, fields: {} } }, { status: 405, headers: { allow } });
}
