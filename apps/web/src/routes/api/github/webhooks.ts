import { createFileRoute } from "@tanstack/react-router";
import { answering } from "~/http/error-response.server.ts";
import { receiveGitHubWebhook } from "~/http/github-webhook.server.ts";
import { withoutPermission } from "~/http/route-access.ts";

export const Route = createFileRoute("/api/github/webhooks")({
  server: {
    handlers: {
      POST: withoutPermission("signature", ({ request }) => answering(request, () => receiveGitHubWebhook(request))),
    },
  },
});
