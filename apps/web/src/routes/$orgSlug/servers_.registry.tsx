import { createFileRoute } from "@tanstack/react-router";
import { useCallback } from "react";
import { ServerRegistryPage } from "~/features/onboarding/server-registry/server-registry-page.tsx";
import { searchParameters, text } from "~/http/search-parameters.ts";

/** BLD-17 */
export const Route = createFileRoute("/$orgSlug/servers_/registry")({
  validateSearch: searchParameters({ search: text(200) }),
  head: () => ({ meta: [{ title: "Find a server · Towpath" }] }),
  component: ServerRegistry,
});

function ServerRegistry() {
  const { orgSlug } = Route.useParams();
  const { search = "" } = Route.useSearch();
  const navigate = Route.useNavigate();
  const onSearch = useCallback(
    (next: string) =>
      // Back undoes typed text as a whole.
      void navigate({ search: next === "" ? {} : { search: next }, replace: search !== "" && next !== "" }),
    [navigate, search],
  );
  return <ServerRegistryPage orgSlug={orgSlug} search={search} onSearch={onSearch} />;
}
