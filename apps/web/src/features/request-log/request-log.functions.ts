import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import type { Context } from "@towpath/core/context";
import { getBuildByDeployment } from "@towpath/core/deployment";
import { TowpathError } from "@towpath/core/errors";
import { queryRequestLogs, requestLogStats } from "@towpath/logs";
import { type LogSearch, logQuerySchema, logStatsQuerySchema, type RequestLogPage } from "@towpath/logs/schema";
import { logQueryFromSearch } from "@towpath/logs/search";
import { z } from "zod";
import { projectAccess } from "~/http/access.ts";
import { type ExplainedRequest, explainRequest } from "~/http/explain-request.server.ts";
import { input } from "~/http/input.ts";
import { readRequestLogs } from "~/http/log-reader.server.ts";
import { type ProjectKey, projectKeySchema } from "../project-screen/project-key.schema.ts";
import { projectQueryKey } from "../project-screen/project-screen.functions.ts";

// The project's id comes from the access check, never from the caller.
const requestLogSchema = projectKeySchema.extend(logQuerySchema.omit({ projectId: true }).shape);
const requestLogStatsSchema = projectKeySchema.extend(logStatsQuerySchema.omit({ projectId: true }).shape);

/** A page of a project's request log, newest first (PRJ-5, VAL-5). */
const queryLogs = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(requestLogSchema))
  .handler(async ({ context, data }) => {
    const query = { ...data, projectId: context.project.id };
    return readRequestLogs((pool) => queryRequestLogs(pool, query));
  });

/** One row with its payloads and the lines of its server's log (PRJ-5, PRJ-20). */
const getLogEntry = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend({ id: z.uuid(), time: z.coerce.date().optional() })))
  .handler(async ({ context, data }) => {
    const row = { projectId: context.project.id, id: data.id, time: data.time };
    const explained = await readRequestLogs((pool) => explainRequest(pool, row));
    const { deploymentId } = explained;
    const buildId = deploymentId === null ? null : await buildOf(context.ctx, deploymentId);
    return { ...explained, buildId };
  });

/** The build whose page shows the server's log; null when the deployment is gone. */
async function buildOf(ctx: Context, deploymentId: string): Promise<string | null> {
  try {
    return (await getBuildByDeployment({ ctx, input: { deploymentId } })).id;
  } catch (error) {
    if (error instanceof TowpathError && error.code === "not_found") return null;
    throw error;
  }
}

/** Counts, chart and facets for the same query (PRJ-5); refuses a search. */
const getLogStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(requestLogStatsSchema))
  .handler(async ({ context, data }) => {
    const query = { ...data, projectId: context.project.id };
    return readRequestLogs((pool) => requestLogStats(pool, query));
  });

const pageSize = 100;
/** The server takes the project from `key`, so the id is a placeholder that is never sent. */
const queryOf = (key: ProjectKey, search: LogSearch) => {
  const { projectId: _projectId, ...query } = logQueryFromSearch("", search);
  return { ...key, ...query };
};

const searchOf = ({ search }: LogSearch) => (search === undefined ? {} : { search });

/** The newest 100 rows. `refetchMs`: the polling interval, false for none. */
export const newestLogsQuery = (key: ProjectKey, search: LogSearch, refetchMs: number | false = false) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "logs", "newest", search],
    queryFn: ({ signal }): Promise<RequestLogPage> =>
      queryLogs({ data: { ...queryOf(key, search), ...searchOf(search), limit: pageSize }, signal }),
    refetchInterval: refetchMs,
    staleTime: 0,
    gcTime: 60_000,
  });

/** The fixed range of older rows, which ends before the oldest of the newest rows; ISO 8601. */
export type OlderRange = { readonly from: string; readonly before: string };

/** Rows of a fixed range in pages of 100, so that they don't shift as new ones arrive. */
export const olderLogsQuery = (key: ProjectKey, search: LogSearch, range: OlderRange | null) =>
  infiniteQueryOptions({
    queryKey: [...projectQueryKey(key), "logs", "older", search, range],
    queryFn: ({ pageParam, signal }): Promise<RequestLogPage> => {
      const dates = range ? { startDate: new Date(range.from), endDate: new Date(range.before) } : {};
      return queryLogs({
        data: { ...queryOf(key, search), ...searchOf(search), ...dates, limit: pageSize, offset: pageParam },
        signal,
      });
    },
    initialPageParam: 0,
    getNextPageParam: (last) => (last.hasMore ? last.offset + last.limit : undefined),
    enabled: range !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });

/** Numbers, chart and facets. */
export const logStatsQuery = (key: ProjectKey, search: LogSearch, refetchMs: number | false) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "logs", "stats", search],
    queryFn: ({ signal }) => getLogStats({ data: queryOf(key, search), signal }),
    refetchInterval: refetchMs,
    staleTime: 0,
    gcTime: 60_000,
  });

/** What the drawer shows of a request besides its row: payloads, lines of its server, and whose page has them. */
export type RequestExplanation = ExplainedRequest & { readonly buildId: string | null };

/** How long a request that has ended may still print, and its lines be written. */
const linesSettleMs = 5000;

/** A request with its payloads and lines; `time` as the list gave it, if it did. The row never changes; lines of the last seconds may still come. */
export const explainedQuery = (key: ProjectKey, { id, time }: { id: string; time?: string | undefined }) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "logs", "explained", id],
    queryFn: ({ signal }): Promise<RequestExplanation> =>
      getLogEntry({ data: { ...key, id, ...(time !== undefined && { time: new Date(time) }) }, signal }),
    refetchInterval: ({ state }) => {
      const entry = state.data;
      const endedAt = entry ? Date.parse(entry.time) + entry.durationMs : 0;
      return entry && Date.now() - endedAt < linesSettleMs ? 1000 : false;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });
