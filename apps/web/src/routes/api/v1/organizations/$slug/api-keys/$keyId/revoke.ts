import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { revokeKeyById } from "~/http/rest/api-keys.server.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";

export const Route = createFileRoute("/api/v1/organizations/$slug/api-keys/$keyId/revoke")({
  server: {
    handlers: {
      POST: withPermission(
        "apiKey.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => revokeKeyById(ctx, params)),
      ),
    },
  },
});
