import { createServerFn } from "@tanstack/react-start";
import { getProject } from "@towpath/core/project";
import { queryRequestLogs, requestLogStats } from "@towpath/logs";
import { logQuerySchema } from "@towpath/logs/schema";
import { services } from "~/compose.server.ts";
import { input } from "~/http/input.ts";
import { authenticated } from "~/http/server-function.ts";
import { projectKeySchema } from "../project-screen/project-key.schema.ts";

// The project's id comes from the access check, never from the caller.
const requestLogSchema = projectKeySchema.extend(logQuerySchema.omit({ projectId: true }).shape);

/** A page of a project's request log, newest first (PRJ-5, VAL-5). */
export const queryLogs = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([authenticated])
  .validator(input(requestLogSchema))
  .handler(async ({ context, data }) => {
    const project = await getProject({ ctx: context.ctx, input: data });
    return queryRequestLogs(services().database.pool, { ...data, projectId: project.id });
  });

/** Counts, chart and facets for the same query (PRJ-5). */
export const getLogStats = createServerFn({ method: "GET" })
  .middleware([authenticated])
  .validator(input(requestLogSchema))
  .handler(async ({ context, data }) => {
    const project = await getProject({ ctx: context.ctx, input: data });
    return requestLogStats(services().database.pool, { ...data, projectId: project.id });
  });
