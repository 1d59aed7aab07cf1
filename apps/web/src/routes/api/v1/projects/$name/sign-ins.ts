import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { projectSignIns } from "~/http/rest/activity.server.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";

export const Route = createFileRoute("/api/v1/projects/$name/sign-ins")({
  server: {
    handlers: {
      GET: withPermission(
        "client.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => projectSignIns(ctx, params.name)),
      ),
    },
  },
});
