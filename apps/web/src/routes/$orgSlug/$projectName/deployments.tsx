import { createFileRoute, notFound, redirect } from "@tanstack/react-router";
import { TowpathError } from "@towpath/core/errors";
import { buildsQuery } from "~/features/project/delivery/build.functions.ts";
import { branchesQuery, forkPullRequestsQuery } from "~/features/project/delivery/deployment.functions.ts";
import { releaseQuery } from "~/features/project/delivery/status.functions.ts";
import { DeploymentsPage } from "~/features/project/deployment/deployments-page.tsx";
import {
  DeploymentsError,
  DeploymentsNotFound,
  DeploymentsPending,
} from "~/features/project/deployment/deployments-states.tsx";
import { withOwnError } from "~/features/shared/error-screens/page-error.tsx";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { openDefaultView } from "~/features/shared/saved-views/default-view.ts";
import { order, searchParameters, text } from "~/http/search-parameters.ts";

const validateSearch = searchParameters({ branch: (value) => text(255)(value) || undefined, order });

export const Route = createFileRoute("/$orgSlug/$projectName/deployments")({
  // Only servers that are built here have deployments.
  beforeLoad: async (opening) => {
    const { context, params } = opening;
    const { kind } = await context.queryClient.ensureQueryData(projectQuery(params));
    if (kind !== "hosted") throw redirect({ to: "/$orgSlug/$projectName/inspector", params, replace: true });
    await openDefaultView(opening, "deployments", validateSearch);
  },
  validateSearch,
  loaderDeps: ({ search: { branch } }) => ({ branch }),
  loader: async ({ context, params, deps: { branch } }) => {
    try {
      await Promise.all([
        context.queryClient.ensureInfiniteQueryData(buildsQuery(params, branch)),
        context.queryClient.ensureQueryData(branchesQuery(params)),
        // Fail silently: the page does without the figures, and without the list.
        context.queryClient.prefetchQuery(releaseQuery(params)),
        context.queryClient.prefetchQuery(forkPullRequestsQuery(params)),
      ]);
    } catch (error) {
      // The project was deleted while one of its pages was open, or it has no such branch.
      if (error instanceof TowpathError && error.code === "not_found") throw notFound();
      throw error;
    }
  },
  head: ({ params }) => ({ meta: [{ title: `Deployments · ${params.projectName} · Towpath` }] }),
  component: () => <DeploymentsPage projectKey={Route.useParams()} branch={Route.useSearch().branch} />,
  pendingComponent: DeploymentsPending,
  errorComponent: withOwnError(DeploymentsError),
  notFoundComponent: () => <DeploymentsNotFound projectKey={Route.useParams()} branch={Route.useSearch().branch} />,
});
