import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { notFound } from "@tanstack/react-router";
import { createServerFn } from "@tanstack/react-start";
import { type BuildPage, type BuildView, getBuild, listBuilds, redeployBuild } from "@towpath/core/build";
import { listBuildsSchema } from "@towpath/core/build/schema";
import { TowpathError } from "@towpath/core/errors";
import { z } from "zod";
import { buildAccess, projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { type ProjectKey, projectKeySchema } from "../project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { isRunning } from "./build-status.tsx";

const buildKeySchema = z.object({ buildId: z.uuid() });

/** A page of a project's builds, newest first (PRJ-2). */
const getBuilds = createServerFn({ method: "GET" })
  .middleware([projectAccess("build.read")])
  .validator(input(projectKeySchema.extend(listBuildsSchema.shape)))
  .handler(({ context, data }) => listBuilds({ ctx: context.ctx, input: data }));

/** One build with its manifest, diagnosis and timings (PRJ-3, BLD-2). */
const getBuildById = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([buildAccess("build.read")])
  .validator(input(buildKeySchema))
  .handler(({ context, data }) => getBuild({ ctx: context.ctx, input: data }));

/** Builds the same commit again (PRJ-13). */
export const redeploy = createServerFn({ method: "POST" })
  .middleware([buildAccess("build.start")])
  .validator(input(buildKeySchema))
  .handler(async ({ context, data }) => {
    const { id } = await redeployBuild({ ctx: context.ctx, input: data });
    return { id };
  });

const pageSize = 100;

/** A project's builds in pages of 100. Refetched every 2 s while one runs, else every 5 s to pick up pushes. */
export const buildsQuery = (key: ProjectKey) =>
  infiniteQueryOptions({
    queryKey: [...projectQueryKey(key), "builds"],
    queryFn: ({ pageParam, signal }): Promise<BuildPage> =>
      getBuilds({ data: { ...key, limit: pageSize, offset: pageParam }, signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.hasMore ? pages.length * pageSize : undefined),
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.data.some((build) => isRunning(build.status))) ? 2000 : 5_000,
    ...projectCache,
  });

/** One build, refetched every 2 s until it ends. */
export const buildQuery = (key: ProjectKey, buildId: string) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "build", buildId],
    queryFn: ({ signal }): Promise<BuildView> => getBuildById({ data: { buildId }, signal }),
    refetchInterval: ({ state }) => (state.data && isRunning(state.data.status) ? 2000 : false),
    ...projectCache,
  });

/** Loads a build of this project. Throws not-found for any other, even one that the user may see elsewhere. */
export async function loadBuild(queryClient: QueryClient, key: ProjectKey, buildId: string): Promise<BuildView> {
  try {
    const build = await queryClient.ensureQueryData(buildQuery(key, buildId));
    const { project } = build;
    const names = [project.name.toLowerCase(), project.id];
    const same = project.orgSlug === key.orgSlug && names.includes(key.projectName.toLowerCase());
    if (same) return build;
  } catch (error) {
    const unknown = error instanceof TowpathError && (error.code === "not_found" || error.code === "invalid_input");
    if (!unknown) throw error;
  }
  throw notFound();
}
