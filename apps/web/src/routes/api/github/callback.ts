import { createFileRoute } from "@tanstack/react-router";
import { gitHubCallback } from "~/features/organization/github/github-callback.server.ts";
import { withoutPermission } from "~/http/access.ts";

export const Route = createFileRoute("/api/github/callback")({
  server: { handlers: { GET: withoutPermission("self", ({ request }) => gitHubCallback(request)) } },
});
