import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { getServers } from "./servers.functions.ts";

const runningEveryMs = 3000;
const idleEveryMs = 5000;

/** Asked again soon while something is being built: the screen shows builds as they go. */
export const serversQuery = (data: { orgSlug: string; type: "all" | "private" | "open"; text: string }) =>
  queryOptions({
    queryKey: ["servers", data.orgSlug, data.type, data.text],
    queryFn: ({ signal }) => getServers({ data, signal }),
    staleTime: 2000,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.some(({ latestBuild }) => latestBuild?.status === "queued" || latestBuild?.status === "building")
        ? runningEveryMs
        : idleEveryMs,
  });
