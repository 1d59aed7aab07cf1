import { createFileRoute } from "@tanstack/react-router";
import { searchDocuments } from "~/features/site/docs/docs.functions.ts";
import { SearchPage } from "~/features/site/docs/search-page.tsx";
import { searchParameters, text, withDefault } from "~/http/search-parameters.ts";

/** OPS-7. A page of its own, so that searching needs no script. */
export const Route = createFileRoute("/_site/docs/search")({
  validateSearch: searchParameters({ q: withDefault(text(200), "") }),
  loaderDeps: ({ search: { q } }) => ({ q: q.trim() }),
  loader: async ({ deps: { q } }) => (q === "" ? [] : searchDocuments({ data: { q } })),
  head: () => ({
    meta: [
      { title: "Search · Towpath docs" },
      {
        name: "description",
        content: "Find pages and sections of the Towpath documentation by words or by an error message.",
      },
      { name: "robots", content: "noindex" },
    ],
  }),
  component: Search,
});

function Search() {
  return <SearchPage query={Route.useSearch().q.trim()} found={Route.useLoaderData()} />;
}
