import { createFileRoute } from "@tanstack/react-router";
import { gitHubAppsQuery } from "~/features/organization/github/apps.functions.ts";
import { connectionsQuery, getGitHubApp } from "~/features/organization/github/github.functions.ts";
import { GitHubSettingsPage } from "~/features/organization/github/github-settings-page.tsx";
import { oauthUrlQuery } from "~/features/organization/github/github-user.functions.ts";
import { searchParameters, text } from "~/http/search-parameters.ts";

/** ONB-2: GitHub returns here after changes that began here. */
export const Route = createFileRoute("/$orgSlug/settings/github")({
  validateSearch: searchParameters({ problem: text(40), account: text(40) }),
  loader: async ({ context: { queryClient }, params: { orgSlug } }) => {
    const [app, connections] = await Promise.all([
      getGitHubApp({ data: { orgSlug } }),
      queryClient.ensureQueryData(connectionsQuery(orgSlug)),
      queryClient.ensureQueryData(gitHubAppsQuery(orgSlug)),
    ]);
    const purpose = connections.length > 0 ? ("install" as const) : ("connect" as const);
    await Promise.all(
      (app?.apps ?? []).map(({ connection }) => {
        const state = { purpose, from: "settings" as const, connection };
        return queryClient.ensureQueryData(oauthUrlQuery({ orgSlug, state }));
      }),
    );
    return app;
  },
  head: () => ({ meta: [{ title: "GitHub · Towpath" }] }),
  component: GitHubSettings,
});

function GitHubSettings() {
  const { orgSlug } = Route.useParams();
  const { problem, account } = Route.useSearch();
  return <GitHubSettingsPage orgSlug={orgSlug} app={Route.useLoaderData()} problem={problem} account={account} />;
}
