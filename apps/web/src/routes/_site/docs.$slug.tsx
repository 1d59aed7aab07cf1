import { createFileRoute, notFound } from "@tanstack/react-router";
import { getDocument } from "~/features/docs/docs.functions.ts";
import { DocsPage } from "~/features/docs/docs-page.tsx";
import { documentPath } from "~/features/docs/document-path.ts";
import { UnmatchedRoute } from "~/features/error-screens/error-screens.tsx";
import { notFoundHead, pageHead } from "~/features/public-site/page-head.ts";

/** OPS-7 */
export const Route = createFileRoute("/_site/docs/$slug")({
  loader: async ({ params }) => {
    const document = params.slug === "" ? null : await getDocument({ data: params });
    if (!document) throw notFound();
    return document;
  },
  head: ({ match, loaderData: document }) =>
    document
      ? pageHead(match.context.site, {
          path: documentPath(document.slug),
          title: `${document.title} · Towpath docs`,
          description: document.description,
          type: "article",
        })
      : notFoundHead,
  component: Page,
  // Inside the layout, which an ancestor's would replace.
  notFoundComponent: UnmatchedRoute,
});

function Page() {
  const { site } = Route.useRouteContext();
  return <DocsPage document={Route.useLoaderData()} editUrl={site.editUrl} />;
}
