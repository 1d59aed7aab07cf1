import { createFileRoute } from "@tanstack/react-router";
import { z } from "zod";
import { searchDocuments } from "~/features/docs/docs.functions.ts";
import { SearchPage } from "~/features/docs/search-page.tsx";

/** OPS-7. A page of its own, so that searching needs no script. */
export const Route = createFileRoute("/_site/docs/search")({
  validateSearch: z.object({ q: z.coerce.string().trim().max(200).catch("") }),
  loaderDeps: ({ search: { q } }) => ({ q }),
  loader: async ({ deps: { q } }) => (q === "" ? [] : searchDocuments({ data: { q } })),
  head: () => ({
    meta: [{ title: "Search · Towpath docs" }, { name: "robots", content: "noindex" }],
  }),
  component: Search,
});

function Search() {
  return <SearchPage query={Route.useSearch().q} found={Route.useLoaderData()} />;
}
