import { queryOptions } from "@tanstack/react-query";
import type { BuildView } from "@towpath/core/delivery/build";
import { getDeployedBuild } from "~/features/project/delivery/deployment.functions.ts";
import { getOffers } from "~/features/project/portals/portals.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { projectCache, projectQueryKey } from "~/features/shared/project-screen/project-screen.functions.ts";

/** The build of a deployment, with the server's manifest (BLD-6); refetched every 30 s (PRJ-7). */
export const deploymentBuildQuery = (key: ProjectKey, deploymentId: string) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "manifest", deploymentId],
    queryFn: ({ signal }): Promise<BuildView> => getDeployedBuild({ data: { ...key, deploymentId }, signal }),
    refetchInterval: 30_000,
    ...projectCache,
  });

/** A server's manifest, and why its lists could not be read. */
type Offers = Pick<BuildView, "manifest" | "warnings">;

/** The same, or in place of a deployment null for a server that isn't built here. */
export const offersQuery = (key: ProjectKey, deploymentId: string | null) =>
  queryOptions({
    queryKey: [...projectQueryKey(key), "offers", deploymentId],
    queryFn: async ({ signal }): Promise<Offers> =>
      deploymentId === null
        ? { manifest: await getOffers({ data: key, signal }), warnings: [] }
        : getDeployedBuild({ data: { ...key, deploymentId }, signal }),
    refetchInterval: 30_000,
    ...projectCache,
  });
