import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { listProjects, listProjectsOfUser, ownProjectIds } from "@towpath/core/projects/project";
import { projectListSchema } from "@towpath/core/projects/project/schema";
import { serversActivity } from "@towpath/logs";
import { z } from "zod";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";
import { organizationAccess, selfAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

/** The organization's servers, filtered (ORG-2). */
const getServers = createServerFn({ method: "GET" })
  .middleware([organizationAccess("project.read")])
  .validator(input(projectListSchema.extend({ orgSlug: z.string() })))
  .handler(({ context, data }) => listProjects({ ctx: context.ctx, input: data }));

/** How many servers the list shows at first, and how many more at a time. */
export const serversShown = 60;

/** Calls, errors and last call of the organization's servers (ORG-2); other ids are ignored. */
const getServersActivity = createServerFn({ method: "GET" })
  .middleware([organizationAccess("project.read")])
  .validator(input(z.object({ orgSlug: z.string(), projectIds: z.array(z.uuid()).max(serversShown) })))
  .handler(async ({ context, data }) => {
    const own = await ownProjectIds({ ctx: context.ctx, input: data });
    return readRequestLogs((pool) => serversActivity(pool, own));
  });

/** The projects of all organizations of the signed-in user; other users' are refused (PRJ-16). @public */
export const getProjectsForUser = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(z.object({ userId: z.uuid() })))
  .handler(({ context, data }) => listProjectsOfUser({ ctx: context.ctx, input: data }));

/** All projects that the signed-in user may see (PRJ-16). @public */
export const getProjects = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .handler(({ context }) => listProjectsOfUser({ ctx: context.ctx }));

const runningRefetchMs = 3000;
const idleRefetchMs = 5000;
const activityRefetchMs = 15_000;

/** Refetched sooner while a build runs, to show its progress. */
export const serversQuery = (data: { orgSlug: string; type: "all" | "private" | "open"; text: string }) =>
  queryOptions({
    queryKey: ["servers", data.orgSlug, data.type, data.text],
    queryFn: ({ signal }) => getServers({ data, signal }),
    staleTime: 2000,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.some(({ latestBuild }) => latestBuild?.status === "queued" || latestBuild?.status === "building")
        ? runningRefetchMs
        : idleRefetchMs,
  });

/** At most `serversShown` projects. */
export const serversActivityQuery = (orgSlug: string, projectIds: readonly string[]) =>
  queryOptions({
    queryKey: ["servers-activity", orgSlug, projectIds],
    queryFn: ({ signal }) => getServersActivity({ data: { orgSlug, projectIds: [...projectIds] }, signal }),
    staleTime: 5000,
    placeholderData: keepPreviousData,
    refetchInterval: activityRefetchMs,
  });
