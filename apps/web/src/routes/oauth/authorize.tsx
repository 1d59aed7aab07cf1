import { createFileRoute } from "@tanstack/react-router";
import { authorizeOrRefuse } from "~/features/account/oauth/authorize.server.ts";
import { OAuthProblem } from "~/features/account/oauth/consent-states.tsx";
import type { RefusedAuthorization } from "~/features/account/oauth/endpoints.server.ts";
import { withoutPermission } from "~/http/access.ts";

/**
 * The authorization endpoint (RFC 6749, section 3.1; GW-5). Shows a page when the error must not be sent to the client,
 * or only if the person chooses to.
 */
export const Route = createFileRoute("/oauth/authorize")({
  server: {
    handlers: {
      GET: withoutPermission("public", async ({ request, next }) => {
        const answer = await authorizeOrRefuse(request);
        return answer instanceof Response ? answer : next({ context: { refused: answer } });
      }),
    },
  },
  loader: ({ serverContext }) => ({
    refused: (serverContext as { refused?: RefusedAuthorization } | undefined)?.refused ?? null,
  }),
  head: () => ({ meta: [{ title: "Can't connect · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: Refused,
});

function Refused() {
  const { refused } = Route.useLoaderData();
  return (
    <OAuthProblem
      title="This app can't be connected"
      text={refused?.reason ?? "Go back to the app and connect again."}
      back={refused?.back ?? null}
    />
  );
}
