import { createFileRoute } from "@tanstack/react-router";
import { installationsQuery } from "~/features/github/github.functions.ts";
import { ChooseRepoPage } from "~/features/onboarding/choose-repo-page.tsx";
import { ChooseRepoError } from "~/features/onboarding/onboarding-frame.tsx";
import { positiveInteger, searchParameters } from "~/http/search-parameters.ts";

const validateSearch = searchParameters({ installationId: positiveInteger });

/** ONB-6, ONB-10 */
export const Route = createFileRoute("/$orgSlug/welcome/choose-repo")({
  validateSearch,
  loader: ({ context, params }) => context.queryClient.ensureQueryData(installationsQuery(params.orgSlug)),
  head: () => ({ meta: [{ title: "Choose a repository · Towpath" }] }),
  component: ChooseRepo,
  errorComponent: ChooseRepoError,
});

function ChooseRepo() {
  const { orgSlug } = Route.useParams();
  const navigate = Route.useNavigate();
  return (
    <ChooseRepoPage
      orgSlug={orgSlug}
      installationId={Route.useSearch().installationId}
      onInstallation={(installationId) => void navigate({ search: { installationId }, replace: true })}
    />
  );
}
