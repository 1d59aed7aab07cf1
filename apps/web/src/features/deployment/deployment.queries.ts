import { queryOptions } from "@tanstack/react-query";
import { isRunning } from "../build/build-status.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "../project-screen/project-screen.queries.ts";
import { getBranchesWithDeployments } from "./deployment.functions.ts";

/** Branches of a project; looks again every 2 s while one builds, else every 5 s: a push shall be seen. */
export const branchesQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "branches"],
    queryFn: ({ signal }) => getBranchesWithDeployments({ data: key, signal }),
    refetchInterval: ({ state }) =>
      state.data?.some((branch) => branch.latestBuild && isRunning(branch.latestBuild.status)) ? 2000 : 5_000,
    ...projectCache,
  });

export type { BranchItem } from "./branch-items.server.ts";
