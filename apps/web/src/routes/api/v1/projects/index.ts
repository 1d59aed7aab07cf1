import { createFileRoute } from "@tanstack/react-router";
import { deployProject, deployProjectSchema } from "~/http/rest/projects.server.ts";
import { jsonBody, operatorRoute } from "~/http/rest/rest-handler.server.ts";

export const Route = createFileRoute("/api/v1/projects/")({
  server: {
    handlers: {
      POST: ({ request }) =>
        operatorRoute(request, async (ctx) => deployProject(ctx, await jsonBody(request, deployProjectSchema))),
    },
  },
});
