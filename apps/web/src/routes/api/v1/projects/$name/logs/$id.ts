import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";
import { projectLogEntry } from "~/http/rest/projects.server.ts";

export const Route = createFileRoute("/api/v1/projects/$name/logs/$id")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => projectLogEntry(ctx, params, new URL(request.url).searchParams)),
      ),
    },
  },
});
