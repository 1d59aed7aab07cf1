import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { projectUsers } from "~/http/rest/activity.server.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";

export const Route = createFileRoute("/api/v1/projects/$name/users")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => projectUsers(ctx, params.name, new URL(request.url).searchParams)),
      ),
    },
  },
});
