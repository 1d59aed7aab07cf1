import { createFileRoute, notFound } from "@tanstack/react-router";
import { getDocument } from "~/features/site/docs/docs.functions.ts";
import { DocsPage } from "~/features/site/docs/docs-page.tsx";
import { pageHead } from "~/features/site/public-site/page-head.ts";

/** OPS-7 */
export const Route = createFileRoute("/_site/docs/")({
  loader: async () => {
    const document = await getDocument({ data: { slug: "" } });
    if (!document) throw notFound();
    return document;
  },
  head: ({ match }) =>
    pageHead(match.context.site, {
      path: "/docs",
      title: "Documentation · Towpath",
      description: "Run Towpath, deploy MCP servers written in Python, connect clients and operate an instance.",
    }),
  component: Page,
});

function Page() {
  const { site } = Route.useRouteContext();
  return <DocsPage document={Route.useLoaderData()} editUrl={site.editUrl} />;
}
