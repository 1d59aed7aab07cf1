import { createFileRoute } from "@tanstack/react-router";
import { answering } from "~/http/error-response.server.ts";
import { receiveGitHubWebhook } from "~/http/github-webhook.server.ts";

export const Route = createFileRoute("/api/github/webhooks")({
  server: { handlers: { POST: ({ request }) => answering(request, () => receiveGitHubWebhook(request)) } },
});
