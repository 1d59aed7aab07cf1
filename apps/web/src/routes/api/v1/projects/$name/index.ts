import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { changeProject, changeProjectSchema, readProject, removeProject } from "~/http/rest/projects.server.ts";

export const Route = createFileRoute("/api/v1/projects/$name/")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => readProject(ctx, params.name)),
      ),
      PATCH: withPermission(
        "project.update",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) =>
              changeProject(ctx, params.name, await jsonBody(request, changeProjectSchema)),
            ),
      ),
      DELETE: withPermission(
        "project.delete",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => removeProject(ctx, params.name)),
      ),
    },
  },
});
