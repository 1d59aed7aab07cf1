import { createFileRoute, redirect, stripSearchParams } from "@tanstack/react-router";
import { getGitHubApp } from "~/features/github/github.functions.ts";
import { oauthUrlQuery } from "~/features/github/github-user.functions.ts";
import { ConnectGitHubPage } from "~/features/onboarding/connect-github-page.tsx";
import { flag, searchParameters, text, withDefault } from "~/http/search-parameters.ts";

const validateSearch = searchParameters({ success: withDefault(flag, true), problem: text(40), account: text(40) });

/** ONB-2: GitHub returns here. After success it redirects to the confirmation. */
export const Route = createFileRoute("/$orgSlug/welcome/connect-github")({
  validateSearch,
  search: { middlewares: [stripSearchParams({ success: true })] },
  beforeLoad: ({ search }) => {
    if (search.success) throw redirect({ to: "/new/github-install-success" });
  },
  loader: async ({ context: { queryClient }, params }) => {
    const app = await getGitHubApp({ data: params });
    const state = { purpose: "connect", from: "welcome" } as const;
    if (app) await queryClient.ensureQueryData(oauthUrlQuery({ orgSlug: params.orgSlug, state }));
    return app;
  },
  head: () => ({ meta: [{ title: "Connect GitHub · Towpath" }] }),
  component: ConnectGitHub,
});

function ConnectGitHub() {
  const { orgSlug } = Route.useParams();
  const { problem, account } = Route.useSearch();
  const { profile } = Route.useRouteContext();
  const hasServers = profile.projects.some((project) => project.orgSlug === orgSlug);
  const app = Route.useLoaderData();
  return <ConnectGitHubPage {...{ orgSlug, app, problem, account, hasServers }} />;
}
