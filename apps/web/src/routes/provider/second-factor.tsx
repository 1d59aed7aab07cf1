import { createFileRoute } from "@tanstack/react-router";
import type { RefusedForm } from "~/features/account/sign-in/credentials.schema.ts";
import { submitSecondFactor } from "~/features/account/sign-in/second-factor.server.ts";
import { SecondFactorPage } from "~/features/account/sign-in/second-factor-page.tsx";
import { redirectIfExternal } from "~/features/account/sign-in/sign-in.server.ts";
import { withoutPermission } from "~/http/access.ts";
import { flag, searchParameters, text } from "~/http/search-parameters.ts";

/** ORG-7: the second step of a sign-in. */
export const Route = createFileRoute("/provider/second-factor")({
  validateSearch: searchParameters({ returnTo: text(8192), recovery: flag }),
  server: {
    handlers: {
      GET: withoutPermission("public", ({ next }) => redirectIfExternal("sign-in") ?? next()),
      POST: withoutPermission("public", async ({ request, next }) => {
        const answer = await submitSecondFactor(request);
        return answer instanceof Response ? answer : next({ context: { refused: answer } });
      }),
    },
  },
  loader: ({ serverContext }) => ({
    refused: (serverContext as { refused?: RefusedForm } | undefined)?.refused ?? null,
  }),
  head: () => ({ meta: [{ title: "Enter your code · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: SecondFactor,
});

function SecondFactor() {
  const { returnTo, recovery = false } = Route.useSearch();
  return <SecondFactorPage refused={Route.useLoaderData().refused} returnTo={returnTo} recovery={recovery} />;
}
