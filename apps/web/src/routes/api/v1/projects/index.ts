import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { saveProject, saveProjectSchema } from "~/http/rest/projects.server.ts";

export const Route = createFileRoute("/api/v1/projects/")({
  server: {
    handlers: {
      POST: withPermission(
        "project.create",
        () =>
          ({ request }) =>
            operatorRoute(request, async (ctx) => saveProject(ctx, await jsonBody(request, saveProjectSchema))),
      ),
    },
  },
});
