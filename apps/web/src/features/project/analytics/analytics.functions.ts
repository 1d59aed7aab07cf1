import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { notFound } from "@towpath/core/errors";
import {
  listSessions,
  listUsers,
  sessionStats,
  sessionTimeseries,
  sessionUsage,
  userStats,
  userTimeseries,
  userUsage,
} from "@towpath/logs";
import { type TimeRange, timeRangeSchema } from "@towpath/logs/schema";
import {
  activityListSchema,
  activityStatsSchema,
  type SessionEntry,
  sessionListSchema,
  timeseriesSchema,
  type UserEntry,
} from "@towpath/logs/sessions";
import { z } from "zod";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";
import { namePrincipals, type WithPrincipal } from "~/features/shared/log-stream/name-principals.server.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

// The project's id is from the access check, never from the caller. Functions, so that the browser's script has no schema.
const ofProject = <Shape extends z.ZodRawShape>(shape: Shape) => input(projectKeySchema.extend(shape));
const statsShape = () => activityStatsSchema.omit({ projectId: true }).shape;
const listShape = () => activityListSchema.omit({ projectId: true }).shape;
const sessionListShape = () => sessionListSchema.omit({ projectId: true }).shape;
const timeseriesShape = () => timeseriesSchema.omit({ projectId: true }).shape;

/** A page of a project's sessions, optionally of one principal (PRJ-6). */
const getSessions = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(ofProject(sessionListShape()))
  .handler(async ({ context, data }) => {
    const query = { ...data, projectId: context.project.id };
    const page = await readRequestLogs((pool) => listSessions(pool, query));
    return { ...page, data: await namePrincipals(context.ctx, context.organization.slug, page.data) };
  });

/** How many sessions started over time (PRJ-6). */
const getSessionTimeseries = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(ofProject(timeseriesShape()))
  .handler(({ context, data }) =>
    readRequestLogs((pool) => sessionTimeseries(pool, { ...data, projectId: context.project.id })),
  );

/** How many sessions, with how many calls and how long (PRJ-6). */
const getSessionStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(ofProject(statsShape()))
  .handler(({ context, data }) =>
    readRequestLogs((pool) => sessionStats(pool, { ...data, projectId: context.project.id })),
  );

/** A session and its calls by item (PRJ-6). */
const getSessionUsage = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(ofProject({ sessionId: z.string().min(1).max(128) }))
  .handler(async ({ context, data }) => {
    const key = { projectId: context.project.id, sessionId: data.sessionId };
    const found = await readRequestLogs((pool) => sessionUsage(pool, key));
    const [session] = found ? await namePrincipals(context.ctx, context.organization.slug, [found.session]) : [];
    if (!found || !session) throw notFound("session");
    return { session, usage: found.usage };
  });

/** A page of the principals that called a project (PRJ-6). */
const getUsers = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(ofProject(listShape()))
  .handler(async ({ context, data }) => {
    const query = { ...data, projectId: context.project.id };
    const page = await readRequestLogs((pool) => listUsers(pool, query));
    return { ...page, data: await namePrincipals(context.ctx, context.organization.slug, page.data) };
  });

/** How many principals called over time (PRJ-6). */
const getUserTimeseries = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(ofProject(timeseriesShape()))
  .handler(({ context, data }) =>
    readRequestLogs((pool) => userTimeseries(pool, { ...data, projectId: context.project.id })),
  );

/** How many principals called, and how many for the first time (PRJ-6). */
const getUserStats = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(ofProject(statsShape()))
  .handler(({ context, data }) =>
    readRequestLogs((pool) => userStats(pool, { ...data, projectId: context.project.id })),
  );

/** A principal that called the project, and its latest calls by item (PRJ-6). */
const getUserUsage = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(ofProject({ principal: z.string().min(1).max(256), timeRange: timeRangeSchema.default("24h") }))
  .handler(async ({ context, data }) => {
    const query = { projectId: context.project.id, principal: data.principal, timeRange: data.timeRange };
    const found = await readRequestLogs((pool) => userUsage(pool, query));
    const [user] = found ? await namePrincipals(context.ctx, context.organization.slug, [found.user]) : [];
    if (!found || !user) throw notFound("user");
    return { user, usage: found.usage };
  });

export type NamedSession = WithPrincipal<SessionEntry>;
export type NamedUser = WithPrincipal<UserEntry>;
type Page<Entry> = { readonly data: readonly Entry[]; readonly nextCursor: string | null };

const cache = { staleTime: 10_000, gcTime: 60_000 };
const refetchMs = 30_000;
/** A list of several pages stays as it is: each of them would be read again. */
const firstPageInterval = ({
  state,
}: {
  readonly state: { readonly data?: { readonly pages: readonly unknown[] } | undefined };
}) => ((state.data?.pages.length ?? 0) > 1 ? false : refetchMs);
const keyOf = (key: ProjectKey, ...rest: readonly unknown[]) => [...projectQueryKey(key), "analytics", ...rest];

/** A project's sessions in pages of 100; only a full page has a next one. */
export const sessionsQuery = (key: ProjectKey, timeRange: TimeRange, principal?: string) =>
  infiniteQueryOptions({
    queryKey: keyOf(key, "sessions", timeRange, principal),
    queryFn: ({ pageParam, signal }): Promise<Page<NamedSession>> =>
      getSessions({
        data: { ...key, timeRange, ...(principal ? { principal } : {}), ...(pageParam ? { cursor: pageParam } : {}) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    refetchInterval: firstPageInterval,
    ...cache,
  });

export const usersQuery = (key: ProjectKey, timeRange: TimeRange) =>
  infiniteQueryOptions({
    queryKey: keyOf(key, "users", timeRange),
    queryFn: ({ pageParam, signal }): Promise<Page<NamedUser>> =>
      getUsers({ data: { ...key, timeRange, ...(pageParam ? { cursor: pageParam } : {}) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    refetchInterval: firstPageInterval,
    ...cache,
  });

/** Figures and chart of the sessions page. */
export const sessionActivityQuery = (key: ProjectKey, timeRange: TimeRange) =>
  queryOptions({
    queryKey: keyOf(key, "session-activity", timeRange),
    queryFn: async ({ signal }) => {
      const data = { ...key, timeRange };
      const [stats, series] = await Promise.all([
        getSessionStats({ data, signal }),
        getSessionTimeseries({ data, signal }),
      ]);
      return { stats, series };
    },
    refetchInterval: refetchMs,
    ...cache,
  });

/** Figures and chart of the users page. */
export const userActivityQuery = (key: ProjectKey, timeRange: TimeRange) =>
  queryOptions({
    queryKey: keyOf(key, "user-activity", timeRange),
    queryFn: async ({ signal }) => {
      const data = { ...key, timeRange };
      const [stats, series] = await Promise.all([getUserStats({ data, signal }), getUserTimeseries({ data, signal })]);
      return { stats, series };
    },
    refetchInterval: refetchMs,
    ...cache,
  });

export const sessionUsageQuery = (key: ProjectKey, sessionId: string) =>
  queryOf(keyOf(key, "session", sessionId), getSessionUsage, { ...key, sessionId }, cache);

export const userUsageQuery = (key: ProjectKey, principal: string, timeRange: TimeRange) =>
  queryOf(keyOf(key, "user", principal, timeRange), getUserUsage, { ...key, principal, timeRange }, cache);
