import { createFileRoute, notFound, redirect } from "@tanstack/react-router";
import {
  ChooseRepoError,
  ChooseRepoNotFound,
  DeployPending,
} from "~/features/onboarding/server-form/choose-repo-states.tsx";
import { deploySearchParameters, repositoryOf } from "~/features/onboarding/server-form/deploy-search.ts";
import { proposeServerName } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { ServerDeployPage } from "~/features/onboarding/welcome/server-deploy-page.tsx";
import { getBranchAndRepository } from "~/features/organization/github/github.functions.ts";
import { withOwnError } from "~/features/shared/error-screens/page-error.tsx";
import { isTowpathErrorCode } from "~/http/errors.ts";

/** ONB-5, ONB-10 */
export const Route = createFileRoute("/$orgSlug/welcome/server-deploy")({
  validateSearch: deploySearchParameters,
  loaderDeps: ({ search: { installationId, owner, repo, repoName } }) => ({ installationId, owner, repo, repoName }),
  loader: async ({ params, deps }) => {
    const address = repositoryOf(deps);
    if (!address) throw redirect({ to: "/$orgSlug/welcome/choose-repo", params });
    const { installationId, owner, repo: name } = address;
    try {
      const [found, proposal] = await Promise.all([
        getBranchAndRepository({ data: { ...params, installationId, owner, name } }),
        proposeServerName({ data: { ...params, like: name } }),
      ]);
      return { ...found, proposal, address };
    } catch (error) {
      const isUnknown = isTowpathErrorCode(error, "not_found") || isTowpathErrorCode(error, "invalid_input");
      throw isUnknown ? notFound() : error;
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
  head: () => ({ meta: [{ title: "Deploy a server · Towpath" }] }),
  component: ServerDeploy,
  pendingComponent: ServerDeployPending,
  errorComponent: withOwnError(ChooseRepoError),
  notFoundComponent: () => <ChooseRepoNotFound what="repository" />,
});

function ServerDeploy() {
  const { orgSlug } = Route.useParams();
  const navigate = Route.useNavigate();
  return (
    <ServerDeployPage
      {...Route.useLoaderData()}
      orgSlug={orgSlug}
      search={Route.useSearch()}
      onKeep={(fields) =>
        void navigate({ search: (known) => ({ ...known, ...fields }), replace: true, resetScroll: false })
      }
    />
  );
}

function ServerDeployPending() {
  const search = Route.useSearch();
  const address = repositoryOf(search);
  return (
    <DeployPending
      repository={address ? `${address.owner}/${address.repo}` : ""}
      isPrivate={search.isPrivate === true}
    />
  );
}
