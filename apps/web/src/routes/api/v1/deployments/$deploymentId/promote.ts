import { createFileRoute } from "@tanstack/react-router";
import { promoteDeployment } from "@towpath/core/deployment";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";

/** PRJ-14 */
export const Route = createFileRoute("/api/v1/deployments/$deploymentId/promote")({
  server: {
    handlers: {
      POST: withPermission(
        "build.start",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) => ({
              build: await promoteDeployment({ ctx, input: { deploymentId: params.deploymentId } }),
            })),
      ),
    },
  },
});
