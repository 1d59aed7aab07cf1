import { createFileRoute, redirect } from "@tanstack/react-router";
import { LandingPage } from "~/features/landing/landing-page.tsx";
import { PublicLayout } from "~/features/public-site/public-layout.tsx";
import { getSite } from "~/features/public-site/site.functions.ts";
import { homeDestination } from "~/features/session/destinations.ts";
import { currentAuthQuery, profileQuery } from "~/features/session/session.functions.ts";

/** PUB-4 for visitors, PUB-5 for signed-in users. */
export const Route = createFileRoute("/")({
  beforeLoad: async ({ context: { queryClient } }) => {
    const auth = await queryClient.ensureQueryData(currentAuthQuery);
    // Always fetch: the progress may have changed in another window.
    const profile = auth && (await queryClient.fetchQuery({ ...profileQuery, staleTime: 0 }));
    if (profile) throw redirect({ href: homeDestination(profile, auth.organizationId) });
  },
  loader: () => getSite(),
  head: ({ loaderData }) => ({
    meta: [
      { title: "Towpath: the simplest path to production for MCP servers" },
      {
        name: "description",
        content: "From a GitHub repository with a Python MCP server to a live, observed, protected endpoint.",
      },
    ],
    links: loaderData ? [{ rel: "canonical", href: `${loaderData.baseUrl}/` }] : [],
  }),
  component: Home,
});

function Home() {
  return (
    <PublicLayout>
      <LandingPage />
    </PublicLayout>
  );
}
