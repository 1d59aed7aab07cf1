import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** Where the OpenID Connect issuer sends people back to (AUTH-2). */
export const Route = createFileRoute("/api/auth/callback/oidc")({
  server: { handlers: { GET: withoutPermission("public", ({ request }) => services().auth.oidcCallback(request)) } },
});
