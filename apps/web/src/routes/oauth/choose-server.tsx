import { createFileRoute } from "@tanstack/react-router";
import { parametersOf } from "~/features/account/oauth/authorization-path.ts";
import { ChooseServerPage } from "~/features/account/oauth/choose-server-page.tsx";
import { ConsentError } from "~/features/account/oauth/consent-states.tsx";
import { serverChoiceQuery } from "~/features/account/oauth/oauth.functions.ts";
import { requireProfile } from "~/features/shared/session/guards.ts";
import { searchParameters, text, withDefault } from "~/http/search-parameters.ts";

/** Asks the signed-in user for a client's server if the client doesn't name one (GW-5). */
export const Route = createFileRoute("/oauth/choose-server")({
  validateSearch: searchParameters({ request: withDefault(text(8000), "") }),
  beforeLoad: (call) => requireProfile(call),
  loaderDeps: ({ search }) => ({ request: search.request }),
  loader: ({ context, deps }) => {
    const clientId = parametersOf(deps.request).get("client_id") ?? "";
    return context.queryClient.ensureQueryData(serverChoiceQuery(clientId));
  },
  head: () => ({ meta: [{ title: "Choose a server · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: ChooseServer,
  errorComponent: ConsentError,
});

function ChooseServer() {
  return <ChooseServerPage parameters={parametersOf(Route.useSearch().request)} />;
}
