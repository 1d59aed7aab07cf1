import { createFileRoute } from "@tanstack/react-router";
import { serverLogStream } from "~/features/shared/log-stream/log-streams.server.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** PRJ-3 */
export const Route = createFileRoute("/api/deployments/$deploymentId/log")({
  server: {
    handlers: {
      GET: withPermission<{ deploymentId: string }>("project.read", ({ request, params }, permission) =>
        serverLogStream(params.deploymentId, permission, request),
      ),
    },
  },
});
