import { createFileRoute } from "@tanstack/react-router";
import { proposeServerName } from "~/features/onboarding/server-form/onboarding.functions.ts";
import { NewServerPage } from "~/features/onboarding/source/new-server-page.tsx";
import { newServerSearchParameters } from "~/features/onboarding/source/new-server-search.ts";

/** SRC-2 */
export const Route = createFileRoute("/$orgSlug/servers_/new")({
  validateSearch: newServerSearchParameters,
  loader: ({ params }) => proposeServerName({ data: params }),
  staleTime: Number.POSITIVE_INFINITY,
  head: () => ({ meta: [{ title: "New server · Towpath" }] }),
  component: NewServer,
});

function NewServer() {
  const { orgSlug } = Route.useParams();
  const navigate = Route.useNavigate();
  return (
    <NewServerPage
      orgSlug={orgSlug}
      search={Route.useSearch()}
      proposal={Route.useLoaderData()}
      onKeep={(fields) =>
        void navigate({ search: (known) => ({ ...known, ...fields }), replace: true, resetScroll: false })
      }
    />
  );
}
