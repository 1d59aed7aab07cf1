import { createFileRoute, redirect } from "@tanstack/react-router";
import { setupSearchParameters } from "~/features/onboarding/server-form/deploy-search.ts";
import { proposeServerName } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { ServerSetupPage } from "~/features/onboarding/welcome/server-setup-page.tsx";
import { quickstartUrlQuery } from "~/features/onboarding/welcome/use-quickstart.ts";
import { getGitHubApp, installationsQuery } from "~/features/organization/github/github.functions.ts";
import { getTemporaryToken } from "~/features/organization/github/github-user.functions.ts";

/** ONB-3 */
export const Route = createFileRoute("/$orgSlug/welcome/server-setup")({
  validateSearch: setupSearchParameters,
  // Typing a name must not reload the page.
  loaderDeps: ({ search: { isCreating, serverName } }) => ({ creating: isCreating ? (serverName ?? null) : null }),
  loader: async ({ context: { queryClient, profile }, params, deps: { creating } }) => {
    const { orgSlug } = params;
    // Reloaded after the server was created.
    const created = profile.projects.find((known) => known.orgSlug === orgSlug && known.name === creating);
    if (created) {
      throw redirect({ to: "/$orgSlug/$projectName/deployments", params: { orgSlug, projectName: created.name } });
    }
    const [proposal, installations, app, token] = await Promise.all([
      proposeServerName({ data: params }),
      queryClient.ensureQueryData(installationsQuery(orgSlug)),
      getGitHubApp({ data: params }),
      // Creation resumes only right after authorizing: somebody else's link must not create anything.
      creating === null ? null : getTemporaryToken({ data: { serverName: creating } }).catch(() => null),
    ]);
    const connected = app !== null && installations.length > 0;
    // An invalid name is reported when the form is sent.
    if (connected && !token) await queryClient.prefetchQuery(quickstartUrlQuery(orgSlug, creating ?? proposal.name));
    return { proposal, connected, resume: token ? creating : null };
  },
  // Don't propose a new name whenever the search parameters change.
  staleTime: Number.POSITIVE_INFINITY,
  head: () => ({ meta: [{ title: "New server · Towpath" }] }),
  component: ServerSetup,
});

function ServerSetup() {
  const { orgSlug } = Route.useParams();
  const navigate = Route.useNavigate();
  return (
    <ServerSetupPage
      {...Route.useLoaderData()}
      orgSlug={orgSlug}
      search={Route.useSearch()}
      onKeep={(fields) =>
        void navigate({ search: (known) => ({ ...known, ...fields }), replace: true, resetScroll: false })
      }
    />
  );
}
