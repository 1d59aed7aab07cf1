import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import {
  getLastSuccessfulBuildByBranch as lastSuccessfulBuildByBranch,
  makeDeploymentLive,
  getMostRecentDeployment as mostRecentDeployment,
  promoteDeployment,
} from "@towpath/core/delivery/deployment";
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
import { deployedBuild } from "./deployed-build.server.ts";

// Manifests are free-form JSON, so functions that return them don't check that it is serializable.

/** Branches with their live deployment (PRJ-2), without manifests. By GET, which shares a request with a page's other calls. */
const getBranches = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(({ context, data }) => branchItems(context.ctx, data, { withManifests: false }));

/** The same, with the newest build's manifest unless the caller needs none. @public */
export const getBranchesWithDeployments = createServerFn({ method: "POST", strict: { output: false } })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema.extend({ withManifests: z.boolean().default(true) })))
  .handler(({ context, data: { withManifests, ...key } }) => branchItems(context.ctx, key, { withManifests }));

const ofDeployment = projectKeySchema.extend({ deploymentId: z.uuid() });

/** The build of a deployment (PRJ-13). By GET, like `getBranches`. */
export const getDeployedBuild = createServerFn({ method: "GET", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(ofDeployment))
  .handler(({ context, data }) => deployedBuild(context, data.deploymentId));

/** The same. @public */
export const getBuildByDeployment = createServerFn({ method: "POST", strict: { output: false } })
  .middleware([projectAccess("build.read")])
  .validator(input(ofDeployment))
  .handler(({ context, data }) => deployedBuild(context, data.deploymentId));

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
    queryFn: ({ signal }): Promise<readonly BranchItem[]> => getBranches({ data: key, signal }),
    refetchInterval: ({ state }) =>
      state.data?.some((branch) => branch.latestBuild && isRunning(branch.latestBuild.status)) ? 2000 : 5_000,
    ...projectCache,
  });

export type { BranchItem } from "./branch-items.server.ts";
