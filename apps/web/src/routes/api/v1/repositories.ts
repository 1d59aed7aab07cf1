import { createFileRoute } from "@tanstack/react-router";
import { createForgeRepository, newRepositorySchema } from "~/http/rest/repositories.server.ts";
import { jsonBody, operatorRoute } from "~/http/rest/rest-handler.server.ts";

export const Route = createFileRoute("/api/v1/repositories")({
  server: {
    handlers: {
      POST: ({ request }) =>
        operatorRoute(request, async (ctx) => createForgeRepository(ctx, await jsonBody(request, newRepositorySchema))),
    },
  },
});
