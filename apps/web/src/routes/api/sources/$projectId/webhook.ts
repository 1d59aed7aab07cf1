import { createFileRoute } from "@tanstack/react-router";
import { receiveGitWebhook } from "~/features/onboarding/source/source-webhook.server.ts";
import { withoutPermission } from "~/http/access.ts";
import { respond } from "~/http/request.server.ts";

export const Route = createFileRoute("/api/sources/$projectId/webhook")({
  server: {
    handlers: {
      POST: withoutPermission("signature", ({ request, params }) =>
        respond(request, () => receiveGitWebhook(request, params.projectId)),
      ),
    },
  },
});
