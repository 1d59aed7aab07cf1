import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** The redirect URI of the OpenID Connect issuer (AUTH-2). */
export const Route = createFileRoute("/api/auth/callback/oidc")({
  server: { handlers: { GET: withoutPermission("public", ({ request }) => services().auth.oidcCallback(request)) } },
});
