import { queryOptions } from "@tanstack/react-query";
import {
  getDiskWarning,
  getInstanceIsolation,
  getInstanceStorage,
  getMissingProtections,
} from "./instance.functions.ts";

/** The runner reports every half minute. */
const reportedEveryMs = 30_000;

export const instanceIsolationQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["instance-isolation", orgSlug],
    queryFn: ({ signal }) => getInstanceIsolation({ data: { orgSlug }, signal }),
    refetchInterval: reportedEveryMs,
  });

export const missingProtectionsQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["missing-protections", orgSlug],
    queryFn: ({ signal }) => getMissingProtections({ data: { orgSlug }, signal }),
    staleTime: reportedEveryMs,
    refetchInterval: reportedEveryMs,
  });

export const instanceStorageQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["instance-storage", orgSlug],
    queryFn: ({ signal }) => getInstanceStorage({ data: { orgSlug }, signal }),
    refetchInterval: reportedEveryMs,
  });

export const diskWarningQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["disk-warning", orgSlug],
    queryFn: ({ signal }) => getDiskWarning({ data: { orgSlug }, signal }),
    staleTime: reportedEveryMs,
    refetchInterval: reportedEveryMs,
  });
