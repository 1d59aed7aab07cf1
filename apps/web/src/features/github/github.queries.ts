import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { getInstallations, getRepositories } from "./github.functions.ts";

export const installationsQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["installations", orgSlug],
    queryFn: ({ signal }) => getInstallations({ data: { orgSlug }, signal }),
    staleTime: 30_000,
  });

export const repositoriesQuery = (orgSlug: string, installationId: number) =>
  infiniteQueryOptions({
    queryKey: ["repositories", orgSlug, installationId],
    queryFn: ({ pageParam, signal }) => getRepositories({ data: { orgSlug, installationId, page: pageParam }, signal }),
    initialPageParam: 1,
    getNextPageParam: ({ nextPage }) => nextPage,
    staleTime: 30_000,
  });
