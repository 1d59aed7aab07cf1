import { createFileRoute } from "@tanstack/react-router";
import { accessSchema } from "@towpath/core/access/schema";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { projectAccessPolicy, setProjectAccessPolicy } from "~/http/rest/projects.server.ts";

/** GW-15 */
export const Route = createFileRoute("/api/v1/projects/$name/access")({
  server: {
    handlers: {
      GET: withPermission(
        "access.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => projectAccessPolicy(ctx, params.name)),
      ),
      PUT: withPermission(
        "access.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) =>
              setProjectAccessPolicy(ctx, params.name, await jsonBody(request, accessSchema)),
            ),
      ),
    },
  },
});
