import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { respond } from "~/http/request.server.ts";
import { serverLogStream } from "~/http/streams/log-streams.server.ts";

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
