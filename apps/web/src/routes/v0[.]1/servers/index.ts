import { createFileRoute } from "@tanstack/react-router";
import { listServers } from "~/features/site/registry/registry-api.server.ts";
import { withoutPermission } from "~/http/access.ts";

/** PUB-14 */
export const Route = createFileRoute("/v0.1/servers/")({
  server: { handlers: { GET: withoutPermission("public", ({ request }) => listServers(request)) } },
});
