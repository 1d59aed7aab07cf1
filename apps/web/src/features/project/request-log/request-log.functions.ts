import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { findDeployedCommit } from "@towpath/core/delivery/deployment";
import type { PrincipalView } from "@towpath/core/tenancy/organization";
import { queryRequestLogs, requestLogStats } from "@towpath/logs";
import {
  type LogSearch,
  logQuerySchema,
  logStatsQuerySchema,
  type RequestLogEntry,
  type TimeRange,
  timeRangeSchema,
} from "@towpath/logs/schema";
import { logQueryFromFilters, periodOfSearch } from "@towpath/logs/search";
import { z } from "zod";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";
import { nameCallers } from "~/features/shared/log-stream/name-principals.server.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { explainRequest } from "./explain-request.server.ts";
import { logNamesSchema, resolveNames } from "./log-query.server.ts";
import { logValues } from "./log-values.server.ts";

// The project's id is from the access check, never from the caller. Functions, so that the browser's script has no schema.
const requestLogSchema = () =>
  projectKeySchema.extend({ ...logQuerySchema.omit({ projectId: true }).shape, ...logNamesSchema.shape });
const requestLogStatsSchema = () =>
  projectKeySchema.extend({
    ...logStatsQuerySchema.omit({ projectId: true }).shape,
    ...logNamesSchema.pick({ deployment: true, branch: true }).shape,
  });

/** A row with its caller's name. */
export type ShownRequest = RequestLogEntry & { readonly caller: PrincipalView };
export type ShownPage = {
  readonly data: readonly ShownRequest[];
  readonly limit: number;
  readonly offset: number;
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
};

/** A page of a project's request log, newest first (PRJ-5, VAL-5). */
const queryLogs = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(requestLogSchema()))
  .handler(async ({ context, data }): Promise<ShownPage> => {
    const { orgSlug, projectName, user, deployment, branch, ...asked } = data;
    const names = await resolveNames(context.ctx, { orgSlug, projectName }, { user, deployment, branch });
    const query = { ...asked, ...names, projectId: context.project.id };
    const page = await readRequestLogs((pool) => queryRequestLogs(pool, query));
    return { ...page, data: await nameCallers(context.ctx, context.organization.slug, page.data) };
  });

/** A row with payloads, lines of the server's log, caller and deployment (PRJ-5, PRJ-20). */
const getLogEntry = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend({ id: z.uuid(), time: z.coerce.date().optional() })))
  .handler(async ({ context, data }) => {
    const row = { projectId: context.project.id, id: data.id, time: data.time };
    const explained = await readRequestLogs((pool) => explainRequest(pool, row));
    const { deploymentId } = explained;
    const { orgSlug, projectName } = data;
    const [deployment, [named]] = await Promise.all([
      deploymentId === null
        ? null
        : findDeployedCommit({ ctx: context.ctx, input: { orgSlug, projectName, deploymentId } }),
      nameCallers(context.ctx, context.organization.slug, [explained]),
    ]);
    return { ...explained, caller: named?.caller ?? null, deployment };
  });

/** Counts, chart and facets for the same query (PRJ-5); refuses filters that the sums don't support. */
const getLogStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(requestLogStatsSchema()))
  .handler(async ({ context, data }) => {
    const { orgSlug, projectName, deployment, branch, ...asked } = data;
    const { deploymentIds } = await resolveNames(context.ctx, { orgSlug, projectName }, { deployment, branch });
    const query = { ...asked, ...(deploymentIds && { deploymentIds }), projectId: context.project.id };
    return readRequestLogs((pool) => requestLogStats(pool, query));
  });

/** Values for queries: tools, clients, users and so on in the range, and the newest deployments (PRJ-5). */
const getLogValues = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend({ timeRange: timeRangeSchema })))
  .handler(({ context, data: { timeRange, ...key } }) =>
    logValues(context.ctx, { key, projectId: context.project.id, timeRange }),
  );

const pageSize = 100;

/** The query without its page. `showsProtocol`: the reader's choice, used where the search has none. */
const queryOf = (key: ProjectKey, search: LogSearch, showsProtocol: boolean) => {
  const { user, deployment, branch } = search;
  return {
    ...key,
    user,
    deployment,
    branch,
    ...logQueryFromFilters(search, showsProtocol),
    ...periodOfSearch(search),
  };
};

/** The page takes what its loader read: new rows are notified. */
const loadedMs = 2000;

/** The newest 100 rows. `refetchMs`: the polling interval, false for none. */
export const newestLogsQuery = (
  key: ProjectKey,
  search: LogSearch,
  showsProtocol: boolean,
  refetchMs: number | false = false,
) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "logs", "newest", search, showsProtocol],
    queryFn: ({ signal }): Promise<ShownPage> =>
      queryLogs({ data: { ...queryOf(key, search, showsProtocol), limit: pageSize }, signal }),
    refetchInterval: refetchMs,
    staleTime: loadedMs,
    gcTime: 60_000,
  });

/** Range of older rows: the cursor after the oldest of the newest rows, and the earliest time (ISO 8601). */
export type OlderRange = { readonly from: string; readonly cursor: string };

/** Rows of a fixed range in pages of 100. */
export const olderLogsQuery = (key: ProjectKey, search: LogSearch, showsProtocol: boolean, range: OlderRange | null) =>
  infiniteQueryOptions({
    queryKey: [...projectQueryKey(key), "logs", "older", search, showsProtocol, range],
    queryFn: ({ pageParam, signal }): Promise<ShownPage> => {
      const query = { ...queryOf(key, search, showsProtocol), ...(range && { startDate: new Date(range.from) }) };
      return queryLogs({ data: { ...query, limit: pageSize, cursor: pageParam }, signal });
    },
    initialPageParam: range?.cursor,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    enabled: range !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });

/** Numbers, chart and facets, by all filters that statistics support (`withStatistics`). */
export const logStatsQuery = (key: ProjectKey, search: LogSearch, showsProtocol: boolean, refetchMs: number | false) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "logs", "stats", search, showsProtocol],
    queryFn: ({ signal }) => {
      const {
        user: _user,
        clientName: _client,
        kept: _kept,
        session: _session,
        search: _search,
        longerThanMs: _longer,
        shorterThanMs: _shorter,
        ...query
      } = queryOf(key, search, showsProtocol);
      return getLogStats({ data: { ...query, principals: undefined }, signal });
    },
    refetchInterval: refetchMs,
    staleTime: loadedMs,
    gcTime: 60_000,
  });

/** Completions of the query bar, and the deployments that the chart marks. */
export const logValuesQuery = (key: ProjectKey, timeRange: TimeRange) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "logs", "values", timeRange],
    queryFn: ({ signal }) => getLogValues({ data: { ...key, timeRange }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    gcTime: 300_000,
  });

/** The drawer's details of a request: payloads, lines of its server, caller, deployment. */
export type RequestExplanation = Awaited<ReturnType<typeof getLogEntry>>;

/** How long lines of a finished request may still arrive. */
const linesSettleMs = 5000;

/**
 * A request with its payloads and lines; `time`: from the list, if known. The row is final; recent lines may follow.
 */
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
