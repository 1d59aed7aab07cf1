import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import {
  getBuildByDeployment as buildByDeployment,
  getLastSuccessfulBuildByBranch as lastSuccessfulBuildByBranch,
  makeDeploymentLive,
  getMostRecentDeployment as mostRecentDeployment,
  promoteDeployment,
} from "@towpath/core/delivery/deployment";
import { notFound } from "@towpath/core/errors";
import {
  decideForkPullRequest,
  decisionSchema,
  type ForkPullRequestView,
  listForkPullRequests,
} from "@towpath/core/sources/fork-pull-request";
import { z } from "zod";
import { isRunning } from "~/features/shared/project-screen/build-status.tsx";
import { type ProjectKey, projectKeySchema } from "~/features/shared/project-screen/project-key.schema.ts";
import {
  projectCache,
  projectQueryKey,
  projectQueryOf,
} from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { type BranchItem, branchItems } from "./branch-items.server.ts";

// Manifests are free-form JSON, so functions that return them don't check that it is serializable.

/** Branches with their live deployment (PRJ-2), with the newest build's manifest unless the caller needs none. */
const getBranchesWithDeployments = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend({ withManifests: z.boolean().default(true) })))
  .handler(({ context, data: { withManifests, ...key } }) => branchItems(context.ctx, key, { withManifests }));

/** The build of a deployment (PRJ-13). */
export const getBuildByDeployment = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(projectKeySchema.extend({ deploymentId: z.uuid() })))
  .handler(async ({ context, data }) => {
    const build = await buildByDeployment({ ctx: context.ctx, input: data });
    if (build.project.id !== context.project.id) throw notFound("build");
    return build;
  });

/** The newest successful build of a branch; null for none (PRJ-13). @public */
export const getLastSuccessfulBuildByBranch = createServerFn({ method: "POST", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(projectKeySchema.extend({ branchId: z.uuid() })))
  .handler(({ context, data }) => lastSuccessfulBuildByBranch({ ctx: context.ctx, input: data }));

/** The newest deployment on any branch; null for none (PRJ-13). @public */
export const getMostRecentDeployment = createServerFn({ method: "POST" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => mostRecentDeployment({ ctx: context.ctx, input: data }));

/** `gradually`: a share of new sessions first (CAP-8). */
const goLiveSchema = projectKeySchema.extend({ deploymentId: z.uuid(), gradually: z.boolean().default(false) });

/** Makes an earlier deployment of its branch live, without a build (PRJ-14). */
export const makeLive = createServerFn({ method: "POST" })
  .middleware([projectAccess("build.start")])
  .validator(input(goLiveSchema))
  .handler(({ context, data: { deploymentId, gradually } }) =>
    makeDeploymentLive({ ctx: context.ctx, input: { deploymentId, gradually } }),
  );

/** Puts a preview's version into production without building it; the promotion's build (PRJ-14). */
export const promote = createServerFn({ method: "POST" })
  .middleware([projectAccess("build.start")])
  .validator(input(goLiveSchema))
  .handler(async ({ context, data: { deploymentId, gradually } }) => {
    const { id } = await promoteDeployment({ ctx: context.ctx, input: { deploymentId, gradually } });
    return { id };
  });

const getForkPullRequests = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => listForkPullRequests({ ctx: context.ctx, input: data }));

/** Approves or declines a commit of a pull request from a fork (BLD-9); the build of an approval. */
export const decideFork = createServerFn({ method: "POST" })
  .middleware([projectAccess("build.approve")])
  .validator(input(projectKeySchema.extend(decisionSchema.shape)))
  .handler(({ context, data }) => decideForkPullRequest({ ctx: context.ctx, input: data }));

/** Open pull requests from forks. Refetched every 5 s to pick up pushes. */
export const forkPullRequestsQuery = projectQueryOf<readonly ForkPullRequestView[]>(
  ["fork-pull-requests"],
  getForkPullRequests,
  { refetchInterval: 5_000 },
);

/** A project's branches. Refetched every 2 s while one builds, else every 5 s to show pushes. */
export const branchesQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "branches"],
    queryFn: ({ signal }): Promise<readonly BranchItem[]> =>
      getBranchesWithDeployments({ data: { ...key, withManifests: false }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.some((branch) => branch.latestBuild && isRunning(branch.latestBuild.status)) ? 2000 : 5_000,
    ...projectCache,
  });

export type { BranchItem } from "./branch-items.server.ts";
