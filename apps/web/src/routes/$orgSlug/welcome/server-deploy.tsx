import { createFileRoute, redirect } from "@tanstack/react-router";
import { getRepositoryForDeploy } from "~/features/github/github.functions.ts";
import { deploySearchParameters } from "~/features/onboarding/deploy-search.ts";
import { proposeServerName } from "~/features/onboarding/onboarding.functions.ts";
import { ChooseRepoError } from "~/features/onboarding/onboarding-frame.tsx";
import { ServerDeployPage } from "~/features/onboarding/server-deploy-page.tsx";

/** ONB-5 */
export const Route = createFileRoute("/$orgSlug/welcome/server-deploy")({
  validateSearch: deploySearchParameters,
  loaderDeps: ({ search: { installationId, owner, repo, repoName } }) => ({ installationId, owner, repo, repoName }),
  loader: async ({ params, deps }) => {
    const { installationId, repoName } = deps;
    const owner = deps.owner ?? repoName?.split("/")[0];
    const name = deps.repo ?? repoName?.split("/")[1];
    if (!installationId || !owner || !name) throw redirect({ to: "/$orgSlug/welcome/choose-repo", params });
    const [found, proposal] = await Promise.all([
      getRepositoryForDeploy({ data: { ...params, installationId, owner, name } }),
      proposeServerName({ data: { ...params, like: name } }),
    ]);
    return { ...found, proposal, address: { installationId, owner, repo: name } };
  },
  staleTime: Number.POSITIVE_INFINITY,
  head: () => ({ meta: [{ title: "Deploy a server · Towpath" }] }),
  component: ServerDeploy,
  errorComponent: ChooseRepoError,
});

function ServerDeploy() {
  const { orgSlug } = Route.useParams();
  return <ServerDeployPage {...Route.useLoaderData()} orgSlug={orgSlug} search={Route.useSearch()} />;
}
