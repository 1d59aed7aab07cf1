import { createFileRoute } from "@tanstack/react-router";
import { releaseQuery, serverStatusQuery } from "~/features/project/delivery/status.functions.ts";
import { firstStepsQuery, overviewQuery } from "~/features/project/overview/overview.functions.ts";
import { OverviewPage } from "~/features/project/overview/overview-page.tsx";
import { OverviewPending, UnknownBranch } from "~/features/project/overview/overview-states.tsx";
import { portalQuery } from "~/features/project/portals/portals.functions.ts";
import { orNotFound } from "~/features/shared/project-screen/or-not-found.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { searchParameters, uuid } from "~/http/search-parameters.ts";

/** PRJ-19 */
export const Route = createFileRoute("/$orgSlug/$projectName/")({
  validateSearch: searchParameters({ branchId: uuid }),
  loaderDeps: ({ search: { branchId } }) => ({ branchId: branchId ?? null }),
  loader: async ({ context: { queryClient, profile }, params, deps }) => {
    const place = { key: params, branchId: deps.branchId };
    // Fails silently: the page reports unreadable numbers, and still shows the live version.
    const numbers = queryClient.prefetchQuery(overviewQuery(place));
    const { kind, hasFirstSteps } = await queryClient.ensureQueryData(projectQuery(params));
    const release = kind === "hosted" && deps.branchId === null && queryClient.prefetchQuery(releaseQuery(params));
    const steps = hasFirstSteps && !profile.hidesFirstSteps && queryClient.prefetchQuery(firstStepsQuery(params));
    if (kind === "portal") await queryClient.ensureQueryData(portalQuery(params));
    await orNotFound(queryClient, params, queryClient.ensureQueryData(serverStatusQuery(place)));
    await Promise.all([numbers, steps, release]);
  },
  component: Overview,
  pendingComponent: OverviewPending,
  notFoundComponent: UnknownBranch,
});

function Overview() {
  const { branchId } = Route.useSearch();
  return <OverviewPage projectKey={Route.useParams()} branchId={branchId ?? null} />;
}
