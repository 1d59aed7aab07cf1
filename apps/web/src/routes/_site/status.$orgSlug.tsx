import { createFileRoute, notFound } from "@tanstack/react-router";
import { UnmatchedRoute } from "~/features/shared/error-screens/error-screens.tsx";
import { notFoundHead, pageHead } from "~/features/site/public-site/page-head.ts";
import { getStatus } from "~/features/site/status-page/status-page.functions.ts";
import { StatusPage } from "~/features/site/status-page/status-page.tsx";

/** PUB-10 */
export const Route = createFileRoute("/_site/status/$orgSlug")({
  loader: async ({ params }) => {
    const found = await getStatus({ data: params });
    if (!found.ok) throw notFound();
    return found.data;
  },
  head: ({ match, loaderData: status }) => {
    if (!status) return notFoundHead;
    const { meta, links } = pageHead(match.context.site, {
      path: `/status/${status.orgSlug}`,
      title: `${status.name} status · Towpath`,
      description: `How the public MCP servers of ${status.name} are doing, and did for ninety days.`,
    });
    return { meta, links };
  },
  component: Status,
  // Inside the layout; an ancestor's would replace it.
  notFoundComponent: UnmatchedRoute,
});

function Status() {
  return <StatusPage status={Route.useLoaderData()} />;
}
