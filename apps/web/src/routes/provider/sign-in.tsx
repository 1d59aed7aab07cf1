import { createFileRoute } from "@tanstack/react-router";
import type { RefusedForm } from "~/features/provider/credentials.schema.ts";
import { ProviderPage } from "~/features/provider/provider-page.tsx";
import { elsewhere } from "~/features/provider/redirect-to-provider.server.ts";
import { submitCredentials } from "~/features/provider/submit-credentials.server.ts";
import { searchParameters, text } from "~/http/search-parameters.ts";

export const Route = createFileRoute("/provider/sign-in")({
  validateSearch: searchParameters({ returnTo: text(8192) }),
  server: {
    handlers: {
      GET: ({ next }) => elsewhere("sign-in") ?? next(),
      POST: async ({ request, next }) => {
        const answer = await submitCredentials(request, "sign-in");
        return answer instanceof Response ? answer : next({ context: { refused: answer } });
      },
    },
  },
  loader: ({ serverContext }) => ({
    refused: (serverContext as { refused?: RefusedForm } | undefined)?.refused ?? null,
  }),
  head: () => ({ meta: [{ title: "Sign in · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: SignIn,
});

function SignIn() {
  return <ProviderPage kind="sign-in" refused={Route.useLoaderData().refused} returnTo={Route.useSearch().returnTo} />;
}
