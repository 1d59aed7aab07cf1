import { createFileRoute, redirect, stripSearchParams } from "@tanstack/react-router";
import { ConnectGitHubPage } from "~/features/onboarding/welcome/connect-github-page.tsx";
import { gitHubAppsQuery } from "~/features/organization/github/apps.functions.ts";
import { getGitHubApp } from "~/features/organization/github/github.functions.ts";
import { oauthUrlQuery } from "~/features/organization/github/github-user.functions.ts";
import { flag, searchParameters, text, withDefault } from "~/http/search-parameters.ts";

const validateSearch = searchParameters({ success: withDefault(flag, true), problem: text(40), account: text(40) });

/** ONB-2: GitHub returns here. After success it redirects to the confirmation. */
export const Route = createFileRoute("/$orgSlug/welcome/connect-github")({
  validateSearch,
  search: { middlewares: [stripSearchParams({ success: true })] },
  beforeLoad: ({ search }) => {
    if (search.success) throw redirect({ to: "/new/github-install-success" });
  },
  loader: async ({ context: { queryClient, organization }, params }) => {
    const app = await getGitHubApp({ data: params });
    const state = { purpose: "connect", from: "welcome" } as const;
    if (app) await queryClient.ensureQueryData(oauthUrlQuery({ orgSlug: params.orgSlug, state }));
    // Owners of other organizations can't: the answer is null (GH-5).
    const mayHave = app === null && organization.permissions.includes("instance.manage");
    const managed = mayHave ? await queryClient.ensureQueryData(gitHubAppsQuery(params.orgSlug)) : null;
    return { app, mayConnectApp: managed !== null };
  },
  head: () => ({ meta: [{ title: "Connect GitHub · Towpath" }] }),
  component: ConnectGitHub,
});

function ConnectGitHub() {
  const { orgSlug } = Route.useParams();
  const { problem, account } = Route.useSearch();
  const { profile } = Route.useRouteContext();
  const hasServers = profile.projects.some((project) => project.orgSlug === orgSlug);
  return (
    <ConnectGitHubPage
      {...Route.useLoaderData()}
      orgSlug={orgSlug}
      problem={problem}
      account={account}
      hasServers={hasServers}
    />
  );
}
