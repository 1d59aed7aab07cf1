import { createFileRoute } from "@tanstack/react-router";
import { preflight } from "~/features/account/oauth/endpoints.server.ts";
import { metadataResponse } from "~/features/account/oauth/metadata.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** The authorization server's metadata (RFC 8414, GW-5). */
export const Route = createFileRoute("/.well-known/oauth-authorization-server")({
  server: {
    handlers: {
      GET: withoutPermission("public", ({ request }) => metadataResponse("oauth", request)),
      OPTIONS: withoutPermission("public", preflight),
    },
  },
});
