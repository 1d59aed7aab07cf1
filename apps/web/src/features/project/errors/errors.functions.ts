import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { findDeployedCommit } from "@towpath/core/delivery/deployment";
import { changeErrorGroups, getErrorGroup, listErrorGroups } from "@towpath/core/operations/error-group";
import { type ErrorPage, errorChangesSchema, errorListSchema } from "@towpath/core/operations/error-group/schema";
import { z } from "zod";
import { nameCallers } from "~/features/shared/log-stream/name-principals.server.ts";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import type { ErrorSearch } from "./error-search.ts";

/** A page of errors (CAP-6). */
const getErrors = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend(errorListSchema.shape)))
  .handler(({ context, data }): Promise<ErrorPage> => listErrorGroups({ ctx: context.ctx, input: data }));

/** An error with its callers' names, and the deployments in which it was first and last seen; null for removed ones. */
const getError = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend({ errorId: z.uuid() })))
  .handler(async ({ context: { ctx, organization }, data: { errorId, ...key } }) => {
    const error = await getErrorGroup({ ctx, input: { ...key, errorId } });
    const commit = (deploymentId: string | null) =>
      deploymentId === null ? null : findDeployedCommit({ ctx, input: { ...key, deploymentId } });
    const [first, last, callers] = await Promise.all([
      commit(error.firstDeploymentId),
      commit(error.lastDeploymentId),
      nameCallers(
        ctx,
        organization.slug,
        error.callers.map(({ name, count }) => ({ principal: name, count })),
      ),
    ]);
    return { ...error, first, last, callers };
  });

/** Resolves, ignores or reopens errors (CAP-6). */
export const changeErrors = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.update")])
  .validator(input(projectKeySchema.extend(errorChangesSchema.shape)))
  .handler(({ context, data }) => changeErrorGroups({ ctx: context.ctx, input: data }));

export const pageSize = 50;
const pollMs = 10_000;

const errorsKey = (key: ProjectKey) => [...projectQueryKey(key), "errors"] as const;

export const errorsQuery = (key: ProjectKey, { q, page = 1, ...search }: ErrorSearch) =>
  queryOptions({
    queryKey: [...errorsKey(key), "list", search, q ?? "", page],
    queryFn: ({ signal }) =>
      getErrors({ data: { ...key, ...search, search: q, limit: pageSize, offset: (page - 1) * pageSize }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: pollMs,
    staleTime: 2000,
  });

export type ShownError = Awaited<ReturnType<typeof getError>>;

export const errorQuery = (key: ProjectKey, errorId: string) =>
  queryOptions({
    queryKey: [...errorsKey(key), "one", errorId],
    queryFn: ({ signal }): Promise<ShownError> => getError({ data: { ...key, errorId }, signal }),
    refetchInterval: pollMs,
    staleTime: 2000,
  });
