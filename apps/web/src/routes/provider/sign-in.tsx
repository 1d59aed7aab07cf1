import { createFileRoute } from "@tanstack/react-router";
import type { RefusedForm } from "~/features/account/sign-in/credentials.schema.ts";
import { redirectIfExternal, submitCredentials } from "~/features/account/sign-in/sign-in.server.ts";
import { CredentialsPage } from "~/features/account/sign-in/sign-in-pages.tsx";
import { withoutPermission } from "~/http/access.ts";
import { searchParameters, text } from "~/http/search-parameters.ts";

export const Route = createFileRoute("/provider/sign-in")({
  validateSearch: searchParameters({ returnTo: text(8192), email: text(254) }),
  server: {
    handlers: {
      GET: withoutPermission("public", ({ next }) => redirectIfExternal("sign-in") ?? next()),
      POST: withoutPermission("public", async ({ request, next }) => {
        const answer = await submitCredentials(request, "sign-in");
        return answer instanceof Response ? answer : next({ context: { refused: answer } });
      }),
    },
  },
  loader: ({ serverContext }) => ({
    refused: (serverContext as { refused?: RefusedForm } | undefined)?.refused ?? null,
  }),
  head: () => ({ meta: [{ title: "Sign in · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: SignIn,
});

function SignIn() {
  const { returnTo, email } = Route.useSearch();
  return <CredentialsPage kind="sign-in" refused={Route.useLoaderData().refused} returnTo={returnTo} email={email} />;
}
