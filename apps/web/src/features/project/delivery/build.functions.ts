import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { notFound } from "@tanstack/react-router";
import { createServerFn } from "@tanstack/react-start";
import {
  type BuildPage,
  type BuildView,
  cancelBuild,
  getBuild,
  listBuilds,
  redeployBuild,
  startBuild,
  startBuildSchema,
} from "@towpath/core/delivery/build";
import { listBuildsSchema } from "@towpath/core/delivery/build/schema";
import { getManifest, getLastSuccessfulBuild as lastSuccessfulBuild } from "@towpath/core/delivery/deployment";
import { type SurfaceChangesView, getSurfaceChanges as surfaceChanges } from "@towpath/core/delivery/surface";
import { z } from "zod";
import { isRunning } from "~/features/shared/project-screen/build-status.tsx";
import { orNotFound } from "~/features/shared/project-screen/or-not-found.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { buildAccess, projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { uuid } from "~/http/search-parameters.ts";

const buildKeySchema = z.object({ buildId: z.uuid() });

// Manifests are free-form JSON, so functions that return them don't check that it is serializable.

/** A page of a project's builds, newest first (PRJ-2), with their manifests unless the caller needs none. */
const getBuilds = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(
    input(projectKeySchema.extend(listBuildsSchema.shape).extend({ withManifests: z.boolean().default(true) })),
  )
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

/** Ends a build that waits or runs (BLD-13). */
export const cancel = createServerFn({ method: "POST" })
  .middleware([buildAccess("build.start")])
  .validator(input(buildKeySchema))
  .handler(async ({ context, data }) => {
    await cancelBuild({ ctx: context.ctx, input: data });
  });

/** A build's changes for callers, compared with the live version or, with `against`, with production (BLD-14). */
const getSurfaceChanges = createServerFn({ method: "GET" })
  .middleware([buildAccess("build.read")])
  .validator(input(buildKeySchema.extend({ against: z.literal("production").optional() })))
  .handler(({ context, data }) => surfaceChanges({ ctx: context.ctx, input: data }));

/** Builds a commit of a branch, or a version of a package: by default the newest one (PRJ-18, BLD-17). */
export const dispatchBuild = createServerFn({ method: "POST" })
  .middleware([projectAccess("build.start")])
  .validator(
    input(projectKeySchema.extend(startBuildSchema.pick({ branch: true, commitSha: true, version: true }).shape)),
  )
  .handler(async ({ context, data }) => {
    const { build } = await startBuild({ ctx: context.ctx, input: { ...data, trigger: "redeploy", reuse: "never" } });
    return { id: build.id };
  });

/** The newest successful build of production, else of any branch; null for none (PRJ-13). @public */
export const getLastSuccessfulBuild = createServerFn({ method: "POST", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => lastSuccessfulBuild({ ctx: context.ctx, input: data }));

const manifestInput = projectKeySchema.extend({ buildId: z.uuid().optional() });

/** The tools of a build's manifest, by default the last successful one's (PRJ-18); none without a manifest. */
const getToolsFromManifest = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(manifestInput))
  .handler(async ({ context, data }) => ({
    data: (await getManifest({ ctx: context.ctx, input: data }))?.tools ?? [],
  }));

/** @public */
export const getResourcesFromManifest = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(manifestInput))
  .handler(async ({ context, data }) => ({
    data: (await getManifest({ ctx: context.ctx, input: data }))?.resources ?? [],
  }));

/** @public */
export const getTemplatesFromManifest = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(manifestInput))
  .handler(async ({ context, data }) => ({
    data: (await getManifest({ ctx: context.ctx, input: data }))?.templates ?? [],
  }));

/** @public */
export const getPromptsFromManifest = createServerFn({ method: "POST", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(manifestInput))
  .handler(async ({ context, data }) => ({
    data: (await getManifest({ ctx: context.ctx, input: data }))?.prompts ?? [],
  }));

const pageSize = 100;

/**
 * A project's builds in pages of 100, of all branches or of one by its name. Refetched every 2 s while a build runs,
 * else every 5 s to show pushes.
 */
export const buildsQuery = (key: ProjectKey, branch?: string) =>
  infiniteQueryOptions({
    queryKey: [...projectQueryKey(key), "builds", branch ?? null],
    queryFn: ({ pageParam: after, signal }): Promise<BuildPage> =>
      getBuilds({ data: { ...key, limit: pageSize, after, branch, withManifests: false }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last.hasMore ? last.data.at(-1)?.id : undefined),
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.data.some((build) => isRunning(build.status))) ? 2000 : 5_000,
    ...projectCache,
  });

/** The names of what is live. */
export const toolNamesQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "tool-names"],
    queryFn: async ({ signal }): Promise<readonly string[]> =>
      (await getToolsFromManifest({ data: key, signal })).data.map(({ tool_name }) => tool_name),
    ...projectCache,
  });

/** The tools of what is live, with whether the server marks them as read-only. */
export const toolsQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "tools-by-hint"],
    queryFn: async ({ signal }): Promise<readonly { readonly name: string; readonly isReadOnly: boolean }[]> =>
      (await getToolsFromManifest({ data: key, signal })).data.map(({ tool_name: name, annotations }) => ({
        name,
        isReadOnly: annotations?.readOnlyHint === true,
      })),
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

/** A build's changes for callers; null without a version to compare with. `against`: default: the live version. */
export const surfaceChangesQuery = (key: ProjectKey, buildId: string, against?: "production") =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "surface", buildId, against ?? "live"],
    queryFn: ({ signal }): Promise<SurfaceChangesView | null> =>
      getSurfaceChanges({ data: { buildId, against }, signal }),
    ...projectCache,
  });

/** Loads a build of this project. Throws not-found for any other, even if the user may see it elsewhere. */
export async function loadBuild(queryClient: QueryClient, key: ProjectKey, buildId: string): Promise<BuildView> {
  if (uuid(buildId) === undefined) throw notFound();
  const build = await orNotFound(queryClient, key, queryClient.ensureQueryData(buildQuery(key, buildId)));
  const { project } = build;
  const names = [project.name.toLowerCase(), project.id];
  if (project.orgSlug !== key.orgSlug || !names.includes(key.projectName.toLowerCase())) throw notFound();
  return build;
}
