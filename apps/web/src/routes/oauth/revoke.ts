import { createFileRoute } from "@tanstack/react-router";
import { preflight, revokeResponse } from "~/features/account/oauth/endpoints.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** Revocation of refresh tokens (RFC 7009, GW-5). */
export const Route = createFileRoute("/oauth/revoke")({
  server: {
    handlers: {
      POST: withoutPermission("public", ({ request }) => revokeResponse(request)),
      OPTIONS: withoutPermission("public", preflight),
    },
  },
});
