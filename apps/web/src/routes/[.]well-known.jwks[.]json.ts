import { createFileRoute } from "@tanstack/react-router";
import { services } from "~/compose.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** The public keys of the tokens that this instance issues (RFC 7517), for servers that verify them. */
export const Route = createFileRoute("/.well-known/jwks.json")({
  server: {
    handlers: {
      GET: withoutPermission("public", async () =>
        Response.json(await services().signingKeys.published(), {
          headers: { "cache-control": "public, max-age=300", "access-control-allow-origin": "*" },
        }),
      ),
    },
  },
});
