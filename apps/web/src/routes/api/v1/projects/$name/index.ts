import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";
import { removeProject } from "~/http/rest/projects.server.ts";

export const Route = createFileRoute("/api/v1/projects/$name/")({
  server: {
    handlers: {
      DELETE: withPermission(
        "project.delete",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => removeProject(ctx, params.name)),
      ),
    },
  },
});
