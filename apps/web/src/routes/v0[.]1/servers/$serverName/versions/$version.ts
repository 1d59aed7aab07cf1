import { createFileRoute } from "@tanstack/react-router";
import { getServerVersion } from "~/features/site/registry/registry-api.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** PUB-14 */
export const Route = createFileRoute("/v0.1/servers/$serverName/versions/$version")({
  server: {
    handlers: {
      GET: withoutPermission("public", ({ params }) => getServerVersion(params.serverName, params.version)),
    },
  },
});
