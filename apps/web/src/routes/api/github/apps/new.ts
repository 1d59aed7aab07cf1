import { createFileRoute } from "@tanstack/react-router";
import { sendManifest } from "~/features/organization/github/app-round-trip.server.ts";
import { withoutPermission } from "~/http/access.ts";

export const Route = createFileRoute("/api/github/apps/new")({
  server: { handlers: { GET: withoutPermission("self", ({ request }) => sendManifest(request)) } },
});
