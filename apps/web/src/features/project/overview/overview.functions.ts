import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { listBranchDeploymentIds } from "@towpath/core/delivery/deployment";
import { listRecentErrors, type RecentErrors } from "@towpath/core/operations/error-group";
import {
  getFirstSteps as getFirstStepsVerb,
  hideFirstSteps as hideFirstStepsVerb,
} from "@towpath/core/projects/first-steps";
import { firstUses, projectOverview } from "@towpath/logs";
import type { ProjectOverview } from "@towpath/logs/overview";
import { dataOf, type Place } from "~/features/project/delivery/status.functions.ts";
import { readRequestLogs } from "~/features/shared/log-stream/log-reader.server.ts";
import {
  branchKeySchema,
  type ProjectKey,
  projectKeySchema,
} from "~/features/shared/project-screen/project-key.schema.ts";
import { projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";
import { projectAccess, selfAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { type LatestFailure, latestFailures } from "./latest-failures.server.ts";

type FullOverview = ProjectOverview & {
  readonly failures: readonly LatestFailure[];
  /** Of all branches. */
  readonly errors: RecentErrors;
};

/** Calls of the last two days, the latest failures (PRJ-19), new errors. Without `branchId`: of the whole project. */
const getOverview = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(branchKeySchema))
  .handler(async ({ context, data }): Promise<FullOverview> => {
    const projectId = context.project.id;
    const { branchId, ...key } = data;
    const deploymentIds =
      branchId && (await listBranchDeploymentIds({ ctx: context.ctx, input: { ...key, branchId } }));
    const scope = { projectId, ...(deploymentIds && { deploymentIds }) };
    const [errors, [overview, failures]] = await Promise.all([
      listRecentErrors({ ctx: context.ctx, input: key }),
      readRequestLogs((pool) => Promise.all([projectOverview(pool, scope), latestFailures(pool, scope)])),
    ]);
    return { ...overview, failures, errors };
  });

/** Which first steps of a new server are done (SRC-4). */
const getFirstSteps = createServerFn({ method: "GET" })
  .middleware([projectAccess("project.read")])
  .validator(input(projectKeySchema))
  .handler(async ({ context, data }) => {
    const uses = await readRequestLogs((pool) => firstUses(pool, context.project.id));
    return getFirstStepsVerb({ ctx: context.ctx, input: { ...data, ...uses } });
  });

/** Hides the list of first steps from the user, of all servers and for good (SRC-4). */
export const hideFirstSteps = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .handler(({ context }) => hideFirstStepsVerb({ ctx: context.ctx }));

const stepsRefetchMs = 5000;

/** Refetched until all steps are done, as they are also done elsewhere. */
export const firstStepsQuery = (key: ProjectKey) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "first-steps"],
    queryFn: ({ signal }) => getFirstSteps({ data: key, signal }),
    staleTime: 2000,
    refetchInterval: ({ state }) =>
      state.data && Object.values(state.data).every((done) => done !== false) ? false : stepsRefetchMs,
  });

/** `refetchMs`: the polling interval, false while changes are notified. */
export const overviewQuery = (place: Place, refetchMs: number | false = false) =>
  queryOptions({
    queryKey: [...projectQueryKey(place.key), "overview", place.branchId],
    queryFn: ({ signal }) => getOverview({ data: dataOf(place), signal }),
    placeholderData: keepPreviousData,
    refetchInterval: refetchMs,
    staleTime: 2000,
  });

export type Overview = Awaited<ReturnType<typeof getOverview>>;
