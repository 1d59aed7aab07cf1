import { createFileRoute, notFound, redirect } from "@tanstack/react-router";
import { UnmatchedRoute } from "~/features/shared/error-screens/error-screens.tsx";
import { notFoundHead, pageHead } from "~/features/site/public-site/page-head.ts";
import { getRegistryData } from "~/features/site/registry/registry.functions.ts";
import { RegistryPage } from "~/features/site/registry/registry-page.tsx";

/** PUB-10, PUB-11 */
export const Route = createFileRoute("/_site/app/$projectName")({
  loader: async ({ params }) => {
    const found = await getRegistryData({ data: params });
    if (!found.ok) throw notFound();
    const projectName = found.data.projectName.toLowerCase();
    // PRJ-11: links to a renamed project lead on.
    if (projectName !== params.projectName.toLowerCase())
      throw redirect({ to: "/app/$projectName", params: { projectName } });
    return found.data;
  },
  head: ({ match, loaderData: entry }) => {
    if (!entry) return notFoundHead;
    const { projectName, title, description, meta: own } = entry;
    const { meta, links } = pageHead(match.context.site, {
      path: `/app/${projectName.toLowerCase()}`,
      title: `${title} · MCP server on Towpath`,
      description: description.length > 200 ? `${description.slice(0, 199)}…` : description,
      image: `/api/og/${projectName.toLowerCase()}`,
    });
    return {
      meta: [...meta, { name: "theme-color", content: own.themeColor }],
      links: [
        ...links.filter(({ rel }) => rel !== "canonical"),
        { rel: "canonical", href: own.canonicalUrl },
        // The server's own has its type in its answer.
        { rel: "icon", href: own.favicon, ...(own.favicon.startsWith("data:") && { type: "image/svg+xml" }) },
      ],
    };
  },
  component: PublicProject,
  // Inside the layout; an ancestor's would replace it.
  notFoundComponent: UnmatchedRoute,
});

function PublicProject() {
  return <RegistryPage entry={Route.useLoaderData()} />;
}
