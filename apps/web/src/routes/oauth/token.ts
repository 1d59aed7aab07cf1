import { createFileRoute } from "@tanstack/react-router";
import { preflight, tokenResponse } from "~/features/account/oauth/endpoints.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** Codes and refresh tokens for access tokens (RFC 6749, section 3.2; GW-5). */
export const Route = createFileRoute("/oauth/token")({
  server: {
    handlers: {
      POST: withoutPermission("public", ({ request }) => tokenResponse(request)),
      OPTIONS: withoutPermission("public", preflight),
    },
  },
});
