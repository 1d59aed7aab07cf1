import { createFileRoute, notFound } from "@tanstack/react-router";
import {
  ChooseRepoError,
  ChooseRepoNotFound,
  ChooseRepoPending,
} from "~/features/onboarding/server-form/choose-repo-states.tsx";
import { proposeServerName } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { ChooseRepoPage } from "~/features/onboarding/welcome/choose-repo-page.tsx";
import { installationsQuery } from "~/features/organization/github/github.functions.ts";
import { oauthUrlQuery } from "~/features/organization/github/github-user.functions.ts";
import { withOwnError } from "~/features/shared/error-screens/page-error.tsx";
import { positiveInteger, searchParameters } from "~/http/search-parameters.ts";

const validateSearch = searchParameters({ installationId: positiveInteger });

/** ONB-6, ONB-10 */
export const Route = createFileRoute("/$orgSlug/welcome/choose-repo")({
  validateSearch,
  loaderDeps: ({ search: { installationId } }) => ({ installationId }),
  loader: async ({ context: { queryClient }, params, deps }) => {
    const [installations, { name }] = await Promise.all([
      queryClient.ensureQueryData(installationsQuery(params.orgSlug)),
      proposeServerName({ data: params }),
    ]);
    const isKnown = installations.some(({ installationId }) => installationId === deps.installationId);
    if (deps.installationId && !isKnown) throw notFound();
    if (installations.length > 0) {
      const state = { purpose: "install", from: "welcome" } as const;
      await queryClient.ensureQueryData(oauthUrlQuery({ orgSlug: params.orgSlug, state }));
    }
    return { name };
  },
  head: () => ({ meta: [{ title: "Choose a repository · Towpath" }] }),
  component: ChooseRepo,
  pendingComponent: ChooseRepoPending,
  errorComponent: withOwnError(ChooseRepoError),
  notFoundComponent: () => <ChooseRepoNotFound what="account" />,
});

function ChooseRepo() {
  const { orgSlug } = Route.useParams();
  const navigate = Route.useNavigate();
  return (
    <ChooseRepoPage
      orgSlug={orgSlug}
      proposedName={Route.useLoaderData().name}
      installationId={Route.useSearch().installationId}
      onInstallation={(installationId) => void navigate({ search: { installationId }, replace: true })}
    />
  );
}
