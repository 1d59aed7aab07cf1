import { createFileRoute } from "@tanstack/react-router";
import { connectCreatedApp } from "~/features/organization/github/app-round-trip.server.ts";
import { withoutPermission } from "~/http/access.ts";

export const Route = createFileRoute("/api/github/apps/created")({
  server: { handlers: { GET: withoutPermission("self", ({ request }) => connectCreatedApp(request)) } },
});
