import { createFileRoute } from "@tanstack/react-router";
import { ConsentPage } from "~/features/account/oauth/consent-page.tsx";
import { ConsentError } from "~/features/account/oauth/consent-states.tsx";
import { consentQuery } from "~/features/account/oauth/oauth.functions.ts";
import { requireProfile } from "~/features/shared/session/guards.ts";
import { searchParameters, text, withDefault } from "~/http/search-parameters.ts";

/** Asks the signed-in user whether a client may call a server (GW-5). */
export const Route = createFileRoute("/oauth/consent")({
  validateSearch: searchParameters({ request: withDefault(text(100), "") }),
  beforeLoad: (call) => requireProfile(call),
  loaderDeps: ({ search }) => ({ request: search.request }),
  loader: ({ context, deps }) => context.queryClient.ensureQueryData(consentQuery(deps.request)),
  head: () => ({ meta: [{ title: "Connect an app · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: Consent,
  errorComponent: ConsentError,
});

function Consent() {
  return <ConsentPage request={Route.useSearch().request} />;
}
