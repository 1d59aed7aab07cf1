import { createFileRoute } from "@tanstack/react-router";
import { preflight, registerResponse } from "~/features/account/oauth/endpoints.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** Dynamic registration of clients (RFC 7591, GW-5). */
export const Route = createFileRoute("/oauth/register")({
  server: {
    handlers: {
      POST: withoutPermission("public", ({ request }) => registerResponse(request)),
      OPTIONS: withoutPermission("public", preflight),
    },
  },
});
