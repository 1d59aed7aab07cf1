import { createServerFn } from "@tanstack/react-start";
import { notFound } from "@towpath/core/errors";
import { queryRequestLogs, readRequestLog, requestLogStats } from "@towpath/logs";
import { logQuerySchema } from "@towpath/logs/schema";
import { z } from "zod";
import { input } from "~/http/input.ts";
import { readRequestLogs } from "~/http/log-reader.server.ts";
import { projectAccess } from "~/http/server-function.ts";
import { projectKeySchema } from "../project-screen/project-key.schema.ts";

// The project's id comes from the access check, never from the caller.
const requestLogSchema = projectKeySchema.extend(logQuerySchema.omit({ projectId: true }).shape);

/** A page of a project's request log, newest first (PRJ-5, VAL-5). */
export const queryLogs = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(requestLogSchema))
  .handler(async ({ context, data }) => {
    const query = { ...data, projectId: context.project.id };
    return readRequestLogs((pool) => queryRequestLogs(pool, query));
  });

/** One row with its payloads (PRJ-5). */
export const getLogEntry = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend({ id: z.uuid(), time: z.coerce.date() })))
  .handler(async ({ context, data }) => {
    const row = { projectId: context.project.id, id: data.id, time: data.time };
    const entry = await readRequestLogs((pool) => readRequestLog(pool, row));
    if (!entry) throw notFound("request");
    return entry;
  });

/** Counts, chart and facets for the same query (PRJ-5). */
export const getLogStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(requestLogSchema))
  .handler(async ({ context, data }) => {
    const query = { ...data, projectId: context.project.id };
    return readRequestLogs((pool) => requestLogStats(pool, query));
  });
