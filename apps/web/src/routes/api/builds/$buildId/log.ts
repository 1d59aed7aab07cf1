import { createFileRoute } from "@tanstack/react-router";
import { buildLogStream } from "~/features/shared/log-stream/log-streams.server.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** PRJ-3 */
export const Route = createFileRoute("/api/builds/$buildId/log")({
  server: {
    handlers: {
      GET: withPermission<{ buildId: string }>("build.read", ({ request, params }, permission) =>
        buildLogStream(params.buildId, permission, request),
      ),
    },
  },
});
