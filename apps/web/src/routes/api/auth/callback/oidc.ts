import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { repeatedCookie } from "~/features/provider/redirect-to-provider.server.ts";

/** Where the OpenID Connect issuer sends people back to (AUTH-2). */
export const Route = createFileRoute("/api/auth/callback/oidc")({
  server: {
    handlers: {
      GET: ({ request }) => {
        const { auth } = services();
        return auth.hasRepeatedCookie(request.headers) ? repeatedCookie() : auth.oidcCallback(request);
      },
    },
  },
});
