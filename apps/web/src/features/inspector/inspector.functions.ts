import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { getRequest } from "@tanstack/react-start/server";
import type { BuildView } from "@towpath/core/build";
import { services } from "~/compose.server.ts";
import { projectAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { type BranchItem, getBuildByDeployment } from "../deployment/deployment.functions.ts";
import { getExternal } from "../external-server/external-server.functions.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "../project-screen/project-screen.functions.ts";
import { callServer } from "./call-server.server.ts";
import { callServerSchema } from "./inspector.schema.ts";

/**
 * Calls a tool, reads a resource or gets a prompt through the gateway (PRJ-4). The verb checks whether the server's own
 * policy admits the role, which may be any (GW-15).
 */
export const callServerFunction = createServerFn({ method: "POST", strict: { output: false } })
  .middleware([projectAccess("project.read")])
  .validator(input(callServerSchema))
  .handler(({ context, data }) =>
    callServer({ ctx: context.ctx, keys: services().signingKeys, signal: getRequest().signal, input: data }),
  );

/** The build of a deployment, whose manifest says what its server offers (BLD-6); refetched every 30 s (PRJ-7). */
export const deploymentBuildQuery = (key: ProjectKey, deploymentId: string) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "manifest", deploymentId],
    queryFn: ({ signal }): Promise<BuildView> => getBuildByDeployment({ data: { ...key, deploymentId }, signal }),
    refetchInterval: 30_000,
    ...projectCache,
  });

/** What a server offers, and why its lists could not be read. */
type Offers = Pick<BuildView, "manifest" | "warnings">;

/** The same, or in place of a deployment null for a server that isn't built here. */
export const offersQuery = (key: ProjectKey, deploymentId: string | null) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "offers", deploymentId],
    queryFn: async ({ signal }): Promise<Offers> =>
      deploymentId === null
        ? { manifest: (await getExternal({ data: key, signal })).manifest, warnings: [] }
        : getBuildByDeployment({ data: { ...key, deploymentId }, signal }),
    refetchInterval: 30_000,
    ...projectCache,
  });

// Not beside the page: a loader uses it, and importing the page there would add it to every visitor's first script.

/** The branch whose deployment is inspected: the one in the URL, else production, else any that is live. */
export function inspectedBranch(
  branches: readonly BranchItem[],
  branchId: string | undefined,
  deploymentId?: string | null,
): BranchItem | null {
  const live = branches.filter((branch) => branch.deployment !== null);
  return (
    live.find((branch) => branch.id === branchId) ??
    live.find((branch) => branch.deployment?.id === deploymentId) ??
    live.find((branch) => branch.isDefault) ??
    live[0] ??
    null
  );
}
