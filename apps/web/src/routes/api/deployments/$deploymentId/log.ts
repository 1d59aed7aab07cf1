import { createFileRoute } from "@tanstack/react-router";
import { serverLogStream } from "~/features/shared/log-stream/log-streams.server.ts";
import { withPermission } from "~/http/access.ts";
import { respond } from "~/http/request.server.ts";

/** PRJ-3 */
export const Route = createFileRoute("/api/deployments/$deploymentId/log")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        (permission) =>
          ({ request, params }) =>
            respond(request, () => serverLogStream(params.deploymentId, permission, request)),
      ),
    },
  },
});
