import { createFileRoute } from "@tanstack/react-router";
import { answering } from "~/http/error-response.server.ts";
import { withPermission } from "~/http/route-access.ts";
import { serverLogStream } from "~/http/streams/log-streams.server.ts";

/** PRJ-3 */
export const Route = createFileRoute("/api/deployments/$deploymentId/log")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        (permission) =>
          ({ request, params }) =>
            answering(request, () => serverLogStream(params.deploymentId, permission, request)),
      ),
    },
  },
});
