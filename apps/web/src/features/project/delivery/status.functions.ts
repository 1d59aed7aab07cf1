import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { getServerStatus as readServerStatus } from "@towpath/core/delivery/deployment";
import { isRunning } from "~/features/shared/project-screen/build-status.tsx";
import {
  branchKeySchema,
  type ProjectKey,
  projectKeySchema,
} from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { showRelease } from "./release.server.ts";

/** The live version, the newest build and the process (PRJ-19). */
const getServerStatus = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(branchKeySchema))
  .handler(({ context, data }) => readServerStatus({ ctx: context.ctx, input: data }));

export type Place = { readonly key: ProjectKey; readonly branchId: string | null };
export const dataOf = ({ key, branchId }: Place) => ({ ...key, ...(branchId !== null && { branchId }) });

const buildingRefetchMs = 2000;
const idleRefetchMs = 5000;

/** Refetched to show a push, a build's progress, and whether the server sleeps. */
export const serverStatusQuery = (place: Place) =>
  queryOptions({
    queryKey: [...projectQueryKey(place.key), "status", place.branchId],
    queryFn: ({ signal }) => getServerStatus({ data: dataOf(place), signal }),
    staleTime: 2000,
    refetchInterval: ({ state }) =>
      state.data?.latestBuild && isRunning(state.data.latestBuild.status) ? buildingRefetchMs : idleRefetchMs,
  });

/** The newest gradual release with both versions' figures (CAP-8). */
const getRelease = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context }) => showRelease(context.ctx, context.project.id));

const releasingRefetchMs = 5_000;
const noReleaseRefetchMs = 15_000;

/** Refetched to show figures, and releases that begin. */
export const releaseQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "release"],
    queryFn: ({ signal }) => getRelease({ data: key, signal }),
    staleTime: 2000,
    refetchInterval: ({ state }) =>
      state.data?.release?.state === "running" ? releasingRefetchMs : noReleaseRefetchMs,
  });
