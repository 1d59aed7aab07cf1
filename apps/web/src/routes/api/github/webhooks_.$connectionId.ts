import { createFileRoute } from "@tanstack/react-router";
import { receiveGitHubWebhook } from "~/features/organization/github/github-webhook.server.ts";
import { withoutPermission } from "~/http/access.ts";
import { respond } from "~/http/request.server.ts";

export const Route = createFileRoute("/api/github/webhooks_/$connectionId")({
  server: {
    handlers: {
      POST: withoutPermission("signature", ({ request, params }) =>
        respond(request, () => receiveGitHubWebhook(request, params.connectionId)),
      ),
    },
  },
});
