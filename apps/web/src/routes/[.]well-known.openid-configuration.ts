import { createFileRoute } from "@tanstack/react-router";
import { withoutPermission } from "~/http/access.ts";
import { preflight } from "~/http/oauth/endpoints.server.ts";
import { metadataResponse } from "~/http/oauth/metadata.server.ts";

/** The same as OpenID Connect Discovery, which some clients look for first (GW-5). */
export const Route = createFileRoute("/.well-known/openid-configuration")({
  server: {
    handlers: {
      GET: withoutPermission("public", ({ request }) => metadataResponse("openid", request)),
      OPTIONS: withoutPermission("public", preflight),
    },
  },
});
