import { organization } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { activityOperations } from "./activity.server.ts";
import { answers } from "./answers.schema.ts";
import { buildOperations } from "./builds.server.ts";
import { deployTargetOperations } from "./deploy-target.server.ts";
import { dispatch } from "./dispatch.server.ts";
import { openApiDocument } from "./openapi.server.ts";
import { type Operation, operation } from "./operation.server.ts";
import { packageOperations } from "./packages.server.ts";
import { peopleOperations } from "./people.server.ts";
import { projectOperations } from "./projects.server.ts";
import { repositoryOperations } from "./repositories.server.ts";
import { settingOperations } from "./settings.server.ts";
import { sourceOperations } from "./sources.server.ts";

const callerOperation = operation({
  method: "GET",
  path: "/caller",
  id: "readCaller",
  permission: "organization.read",
  summary: "who calls: the operator, or an API key and its organization; and how addresses of servers are formed",
  answer: answers.caller,
  handle: async ({ ctx }) => {
    const { actor } = ctx;
    const serverUrl = services().config.serverUrlTemplate;
    if (actor.kind !== "apiKey") return { kind: "operator" as const, organization: null, serverUrl };
    const [own] = await ctx.db
      .select({ slug: organization.slug, name: organization.name })
      .from(organization)
      .where(eq(organization.id, actor.organizationId));
    const kind = actor.userId === null ? ("organization" as const) : ("personal" as const);
    return { kind, organization: own ?? null, serverUrl };
  },
});

const all: readonly Operation[] = [
  callerOperation,
  ...deployTargetOperations,
  ...repositoryOperations,
  ...projectOperations,
  ...packageOperations,
  ...sourceOperations,
  ...buildOperations,
  ...settingOperations,
  ...activityOperations,
  ...peopleOperations,
];

/** Handles requests below `/api/v1`: all operations of this directory, and those of features. */
export function restHandler(
  ofFeatures: readonly Operation[],
): (call: { readonly request: Request }) => Promise<Response> {
  const document: Operation = operation({
    method: "GET",
    path: "/openapi.json",
    id: "readOpenApi",
    permission: "public",
    summary: "this API as OpenAPI 3.1",
    answer: z.record(z.string(), z.unknown()),
    handle: async () => openApiDocument(operations, services().config.baseUrl),
  });
  const operations: readonly Operation[] = [...all, ...ofFeatures, document];
  return ({ request }) => dispatch(request, operations);
}
