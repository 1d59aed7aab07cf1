import { createFileRoute } from "@tanstack/react-router";
import { withoutPermission } from "~/http/access.ts";
import { receiveGitHubWebhook } from "~/http/github-webhook.server.ts";
import { respond } from "~/http/request.server.ts";

export const Route = createFileRoute("/api/github/webhooks")({
  server: {
    handlers: {
      POST: withoutPermission("signature", ({ request }) =>
        respond(request, () => receiveGitHubWebhook(request, null)),
      ),
    },
  },
});
