import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { projectSessions } from "~/http/rest/activity.server.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";

export const Route = createFileRoute("/api/v1/projects/$name/sessions")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => projectSessions(ctx, params.name, new URL(request.url).searchParams)),
      ),
    },
  },
});
