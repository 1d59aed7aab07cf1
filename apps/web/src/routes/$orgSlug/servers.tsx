import { createFileRoute, stripSearchParams } from "@tanstack/react-router";
import { diskWarningQuery, missingProtectionsQuery } from "~/features/organization/instance/instance.functions.ts";
import { serversActivityQuery, serversQuery, serversShown } from "~/features/organization/servers/servers.functions.ts";
import { ServersPage } from "~/features/organization/servers/servers-page.tsx";
import { openDefaultView } from "~/features/shared/saved-views/default-view.ts";
import { oneOf, order, searchParameters, text, withDefault } from "~/http/search-parameters.ts";
import { PagePending } from "~/ui/page-pending.tsx";

const validateSearch = searchParameters({
  type: withDefault(oneOf(["all", "private", "open"]), "all"),
  text: withDefault(text(200), ""),
  selected: text(100),
  order,
});

/** ORG-2 */
export const Route = createFileRoute("/$orgSlug/servers")({
  validateSearch,
  search: { middlewares: [stripSearchParams({ type: "all", text: "" } as const)] },
  beforeLoad: (opening) => openDefaultView(opening, "servers", validateSearch),
  loaderDeps: ({ search: { type, text } }) => ({ type, text }),
  loader: ({ context: { queryClient }, params, deps }) =>
    Promise.all([
      queryClient.ensureQueryData(serversQuery({ ...params, ...deps })).then((servers) => {
        const ids = servers.slice(0, serversShown).map(({ id }) => id);
        // Fails quietly: the list is useful without it.
        return ids.length === 0 ? null : queryClient.prefetchQuery(serversActivityQuery(params.orgSlug, ids));
      }),
      // Optional: the list is useful without it.
      queryClient.ensureQueryData(missingProtectionsQuery(params.orgSlug)).catch(() => null),
      queryClient.prefetchQuery(diskWarningQuery(params.orgSlug)),
    ]),
  head: () => ({ meta: [{ title: "Servers · Towpath" }] }),
  component: Servers,
  pendingComponent: () => <PagePending title="Servers" cards={[4]} />,
});

function Servers() {
  const { orgSlug } = Route.useParams();
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ServersPage
      orgSlug={orgSlug}
      search={search}
      onSearch={(change) =>
        void navigate({
          search: { ...search, ...change },
          // Back undoes a filter, and typed text as a whole.
          replace: search.text !== "" && Boolean(change.text),
        })
      }
    />
  );
}
