import type { Context } from "@towpath/core/context";
import { authorizeBuild } from "@towpath/core/delivery/build";
import { getManifest, getServerStatus } from "@towpath/core/delivery/deployment";
import { parseInput } from "@towpath/core/input";
import { describePrincipals } from "@towpath/core/tenancy/organization";
import { listSessions, listUsers, queryRequestLogs, readBuildLog, readServerLogs } from "@towpath/logs";
import { activityListSchema, sessionListSchema } from "@towpath/logs/sessions";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";
import { activityAnswers } from "./activity-answers.server.ts";
import { explainRequest } from "./explain-request.server.ts";
import { logParametersSchema, readLogParameters } from "./log-query.server.ts";
import { signInAttempts } from "./sign-in-attempts.server.ts";

const entrySchema = z.object({ time: z.coerce.date().optional() });

const linesSchema = z.object({ limit: z.coerce.number().int().min(1).max(1000).default(1000) });

async function withPrincipalNames<Row extends { readonly principal: string }>(
  ctx: Context,
  orgSlug: string,
  rows: readonly Row[],
): Promise<(Row & { readonly principalName: string | null })[]> {
  const callers = await describePrincipals({ ctx, input: { orgSlug, principals: rows.map((row) => row.principal) } });
  return rows.map((row) => ({ ...row, principalName: callers.get(row.principal)?.name ?? null }));
}

/** A server's state, manifest, and callers. */
export const activityOperations: readonly Operation[] = [
  operation("GET /projects/{name}/status", "readStatus", "project.read", {
    summary: "what is live in production, the newest build, and how the server is",
    answer: answers.status,
    handle: ({ ctx, project }) =>
      getServerStatus({ ctx, input: { orgSlug: project.orgSlug, projectName: project.name } }),
  }),
  operation("GET /projects/{name}/manifest", "readManifest", "build.read", {
    summary: "tools, resources, templates and prompts of what is live; null before the first deployment",
    answer: answers.manifest,
    handle: async ({ ctx, project }) => ({
      manifest: await getManifest({ ctx, input: { orgSlug: project.orgSlug, projectName: project.name } }),
    }),
  }),
  operation("GET /projects/{name}/logs", "queryLogs", "project.read", {
    summary:
      "the newest rows of the request log, such as those of `query=tool:echo status:error` ([observability.md](observability.md#queries))",
    query: logParametersSchema,
    answer: activityAnswers.queryLogs,
    handle: async ({ ctx, project, query: parameters }) => {
      const key = { orgSlug: project.orgSlug, projectName: project.name };
      const query = { ...(await readLogParameters(ctx, key, parameters)), projectId: project.id };
      const page = await readRequestLogs((pool) => queryRequestLogs(pool, query));
      return { ...page, data: await withPrincipalNames(ctx, project.orgSlug, page.data) };
    },
  }),
  operation("GET /projects/{name}/logs/{id}", "readLogEntry", "project.read", {
    summary: "one row with payloads and lines of the server",
    query: entrySchema,
    answer: activityAnswers.readLogEntry,
    handle: async ({ ctx, project, params, query }) => {
      const { id } = parseInput(z.object({ id: z.uuid() }), params);
      const found = await readRequestLogs((pool) => explainRequest(pool, { ...query, id, projectId: project.id }));
      const [named] = await withPrincipalNames(ctx, project.orgSlug, [found]);
      return { ...found, principalName: named?.principalName ?? null };
    },
  }),
  operation("GET /projects/{name}/server-log", "readServerLog", "project.read", {
    summary: "the newest lines that the live server printed, oldest first",
    query: linesSchema,
    answer: activityAnswers.readServerLog,
    handle: async ({ ctx, project, query: { limit } }) => {
      const { live } = await getServerStatus({ ctx, input: { orgSlug: project.orgSlug, projectName: project.name } });
      const deploymentId = live?.deploymentId ?? null;
      const data = deploymentId ? await readServerLogs(services().database.pool, { deploymentId, limit }) : [];
      return { deploymentId, data };
    },
  }),
  operation("GET /builds/{buildId}/log", "readBuildLog", "build.read", {
    summary: "lines of a build's log after line `after`, at most `limit`",
    query: linesSchema.extend({ after: z.coerce.number().int().min(0).default(0) }),
    answer: answers.buildLog,
    handle: async ({ ctx, params, query: { after, limit } }) => {
      await authorizeBuild(ctx, "build.read", params.buildId);
      const { pool } = services().database;
      return { data: await readBuildLog(pool, { buildId: params.buildId, afterLine: after, limit }) };
    },
  }),
  operation("GET /projects/{name}/sign-ins", "listSignIns", "client.read", {
    summary: "the last sign-in attempts of clients, step by step",
    answer: activityAnswers.listSignIns,
    handle: ({ ctx, project }) => signInAttempts(ctx, { projectId: project.id }),
  }),
  operation("GET /projects/{name}/sessions", "listSessions", "project.read", {
    summary: "sessions, most recently active first, in pages",
    query: sessionListSchema.omit({ projectId: true }),
    answer: activityAnswers.listSessions,
    handle: ({ project, query }) => readRequestLogs((pool) => listSessions(pool, { ...query, projectId: project.id })),
  }),
  operation("GET /projects/{name}/users", "listUsers", "project.read", {
    summary: "users, most recently active first, in pages",
    query: activityListSchema.omit({ projectId: true }),
    answer: activityAnswers.listUsers,
    handle: ({ project, query }) => readRequestLogs((pool) => listUsers(pool, { ...query, projectId: project.id })),
  }),
];
