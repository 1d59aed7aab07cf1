import { createFileRoute } from "@tanstack/react-router";
import { cancelBuild } from "@towpath/core/build";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";

/** BLD-13 */
export const Route = createFileRoute("/api/v1/builds/$buildId/cancel")({
  server: {
    handlers: {
      POST: withPermission(
        "build.start",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) => ({
              build: await cancelBuild({ ctx, input: { buildId: params.buildId } }),
            })),
      ),
    },
  },
});
