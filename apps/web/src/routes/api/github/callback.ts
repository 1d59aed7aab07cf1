import { createFileRoute } from "@tanstack/react-router";
import { gitHubCallback } from "~/features/github/github-callback.server.ts";

export const Route = createFileRoute("/api/github/callback")({
  server: { handlers: { GET: ({ request }) => gitHubCallback(request) } },
});
