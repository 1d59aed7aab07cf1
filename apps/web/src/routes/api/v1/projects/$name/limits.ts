import { createFileRoute } from "@tanstack/react-router";
import { callLimitSchema } from "@towpath/core/call-limit/schema";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { projectCallLimits, setProjectCallLimits } from "~/http/rest/projects.server.ts";

/** GW-8 */
export const Route = createFileRoute("/api/v1/projects/$name/limits")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => projectCallLimits(ctx, params.name)),
      ),
      PUT: withPermission(
        "limit.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) =>
              setProjectCallLimits(ctx, params.name, await jsonBody(request, callLimitSchema)),
            ),
      ),
    },
  },
});
