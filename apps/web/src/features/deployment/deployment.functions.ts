import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { isRunning } from "../build/build-status.tsx";
import { type ProjectKey, projectKeySchema } from "../project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { branchItems } from "./branch-items.server.ts";

/** Branches with their live deployment (PRJ-2). */
const getBranchesWithDeployments = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => branchItems(context.ctx, data));

/** A project's branches. Refetched every 2 s while one builds, else every 5 s to pick up pushes. */
export const branchesQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "branches"],
    queryFn: ({ signal }) => getBranchesWithDeployments({ data: key, signal }),
    refetchInterval: ({ state }) =>
      state.data?.some((branch) => branch.latestBuild && isRunning(branch.latestBuild.status)) ? 2000 : 5_000,
    ...projectCache,
  });

export type { BranchItem } from "./branch-items.server.ts";
