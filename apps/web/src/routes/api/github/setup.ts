import { createFileRoute } from "@tanstack/react-router";
import { gitHubSetup } from "~/features/organization/github/github-callback.server.ts";
import { withoutPermission } from "~/http/access.ts";

export const Route = createFileRoute("/api/github/setup")({
  server: { handlers: { GET: withoutPermission("self", ({ request }) => gitHubSetup(request)) } },
});
