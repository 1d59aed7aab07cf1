import { createFileRoute } from "@tanstack/react-router";
import { connectCreatedApp } from "~/features/github/app-round-trip.server.ts";
import { withoutPermission } from "~/http/access.ts";

export const Route = createFileRoute("/api/github/apps/created")({
  server: { handlers: { GET: withoutPermission("self", ({ request }) => connectCreatedApp(request)) } },
});
