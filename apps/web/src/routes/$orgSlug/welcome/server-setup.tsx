import { createFileRoute } from "@tanstack/react-router";
import { PageError } from "~/features/error-screens/error-screens.tsx";
import { getGitHubApp, getInstallations } from "~/features/github/github.functions.ts";
import { setupSearchParameters } from "~/features/onboarding/deploy-search.ts";
import { proposeServerName } from "~/features/onboarding/onboarding.functions.ts";
import { ServerSetupPage } from "~/features/onboarding/server-setup-page.tsx";

/** ONB-3 */
export const Route = createFileRoute("/$orgSlug/welcome/server-setup")({
  validateSearch: setupSearchParameters,
  loader: async ({ params }) => {
    const [proposal, installations, app] = await Promise.all([
      proposeServerName({ data: params }),
      getInstallations({ data: params }),
      getGitHubApp({ data: params }),
    ]);
    return { proposal, connected: installations.length > 0, app };
  },
  // Don't propose a new name whenever the search parameters change.
  staleTime: Number.POSITIVE_INFINITY,
  head: () => ({ meta: [{ title: "New server · Towpath" }] }),
  component: ServerSetup,
  errorComponent: PageError,
});

function ServerSetup() {
  const { orgSlug } = Route.useParams();
  return <ServerSetupPage {...Route.useLoaderData()} orgSlug={orgSlug} search={Route.useSearch()} />;
}
