import { createFileRoute } from "@tanstack/react-router";
import { buildsQuery } from "~/features/build/build.queries.ts";
import { branchesQuery } from "~/features/deployment/deployment.queries.ts";
import { DeploymentsPage } from "~/features/deployment/deployments-page.tsx";
import { DeploymentsPending } from "~/features/deployment/deployments-pending.tsx";
import { DeploymentsError, DeploymentsNotFound } from "~/features/deployment/deployments-problem.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName/deployments")({
  loader: ({ context, params }) =>
    Promise.all([
      context.queryClient.ensureInfiniteQueryData(buildsQuery(params)),
      context.queryClient.ensureQueryData(branchesQuery(params)),
    ]).then(() => undefined),
  head: ({ params }) => ({ meta: [{ title: `Deployments · ${params.projectName} · Towpath` }] }),
  component: () => <DeploymentsPage projectKey={Route.useParams()} />,
  pendingComponent: DeploymentsPending,
  errorComponent: DeploymentsError,
  notFoundComponent: DeploymentsNotFound,
});
