import { queryOptions } from "@tanstack/react-query";
import type { ProjectKey } from "./project-key.schema.ts";
import { getProjectWithAuth } from "./project-screen.functions.ts";

const minute = 60_000;

/** Project queries: fresh 2 minutes, kept 5 (AUTH-9). */
export const projectCache = { staleTime: 2 * minute, gcTime: 5 * minute };

/** First part of the key of everything that belongs to a project: invalidating it renews all its screens. */
export const projectQueryKey = (key: ProjectKey) => ["project", key.orgSlug, key.projectName] as const;

export const projectQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "detail"],
    queryFn: ({ signal }) => getProjectWithAuth({ data: key, signal }),
    ...projectCache,
  });
