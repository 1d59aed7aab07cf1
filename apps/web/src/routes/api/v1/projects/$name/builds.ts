import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { startBuildBodySchema, startProjectBuild } from "~/http/rest/projects.server.ts";

export const Route = createFileRoute("/api/v1/projects/$name/builds")({
  server: {
    handlers: {
      POST: withPermission(
        "build.start",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) =>
              startProjectBuild(ctx, params.name, await jsonBody(request, startBuildBodySchema)),
            ),
      ),
    },
  },
});
