import { createFileRoute, notFound } from "@tanstack/react-router";
import { UnmatchedRoute } from "~/features/shared/error-screens/error-screens.tsx";
import { getDocument } from "~/features/site/docs/docs.functions.ts";
import { DocsPage } from "~/features/site/docs/docs-page.tsx";
import { documentPath } from "~/features/site/docs/document-path.ts";
import { notFoundHead, pageHead } from "~/features/site/public-site/page-head.ts";

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
  // Inside the layout; an ancestor's would replace it.
  notFoundComponent: UnmatchedRoute,
});

function Page() {
  const { site } = Route.useRouteContext();
  return <DocsPage document={Route.useLoaderData()} editUrl={site.editUrl} />;
}
