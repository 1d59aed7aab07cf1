import { createFileRoute } from "@tanstack/react-router";
import { preflight } from "~/features/account/oauth/endpoints.server.ts";
import { metadataResponse } from "~/features/account/oauth/metadata.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** The same as OpenID Connect Discovery, which some clients try first (GW-5). */
export const Route = createFileRoute("/.well-known/openid-configuration")({
  server: {
    handlers: {
      GET: withoutPermission("public", ({ request }) => metadataResponse("openid", request)),
      OPTIONS: withoutPermission("public", preflight),
    },
  },
});
