import { createFileRoute } from "@tanstack/react-router";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { deployProject, deployProjectSchema } from "~/http/rest/projects.server.ts";

export const Route = createFileRoute("/api/v1/projects/")({
  server: {
    handlers: {
      POST: ({ request }) =>
        operatorRoute(request, async (ctx) => deployProject(ctx, await jsonBody(request, deployProjectSchema))),
    },
  },
});
