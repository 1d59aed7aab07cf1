import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { createForgeRepository, newRepositorySchema } from "~/http/rest/repositories.server.ts";

export const Route = createFileRoute("/api/v1/repositories")({
  server: {
    handlers: {
      POST: withPermission(
        "project.create",
        () =>
          ({ request }) =>
            operatorRoute(request, async (ctx) =>
              createForgeRepository(ctx, await jsonBody(request, newRepositorySchema)),
            ),
      ),
    },
  },
});
