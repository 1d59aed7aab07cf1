import { createFileRoute } from "@tanstack/react-router";
import { gitHubSetup } from "~/features/github/github-callback.server.ts";

export const Route = createFileRoute("/api/github/setup")({
  server: { handlers: { GET: ({ request }) => gitHubSetup(request) } },
});
