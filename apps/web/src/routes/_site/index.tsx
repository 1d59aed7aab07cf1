import { createFileRoute, redirect } from "@tanstack/react-router";
import { homeDestination } from "~/features/shared/session/destinations.ts";
import { profileQuery } from "~/features/shared/session/session.functions.ts";
import { getPosts } from "~/features/site/blog/blog.functions.ts";
import { LandingPage } from "~/features/site/landing/landing-page.tsx";
import { pageHead } from "~/features/site/public-site/page-head.ts";

/** PUB-4 for visitors, PUB-5 for signed-in users. */
export const Route = createFileRoute("/_site/")({
  beforeLoad: async ({ context: { queryClient, viewer } }) => {
    // Always fetch: the progress may have changed in another window.
    const profile = viewer && (await queryClient.fetchQuery({ ...profileQuery, staleTime: 0 }));
    if (profile) throw redirect({ href: homeDestination(profile, viewer.auth.organizationId) });
  },
  loader: () => getPosts(),
  head: ({ match }) =>
    pageHead(match.context.site, {
      path: "/",
      title: "Towpath: the simplest path to production for MCP servers",
      description:
        "Push a repository with a Python MCP server. Towpath builds it, runs it in a sandbox and gives it a URL that every MCP client can use, with access control and a log of every call.",
    }),
  component: Landing,
});

function Landing() {
  return <LandingPage posts={Route.useLoaderData()} />;
}
