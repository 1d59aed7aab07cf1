import { createFileRoute } from "@tanstack/react-router";
import { startBuildBodySchema, startProjectBuild } from "~/http/rest/projects.server.ts";
import { jsonBody, operatorRoute } from "~/http/rest/rest-handler.server.ts";

export const Route = createFileRoute("/api/v1/projects/$name/builds")({
  server: {
    handlers: {
      POST: ({ request, params }) =>
        operatorRoute(request, async (ctx) =>
          startProjectBuild(ctx, params.name, await jsonBody(request, startBuildBodySchema)),
        ),
    },
  },
});
