import { createFileRoute } from "@tanstack/react-router";
import { buildLogStream } from "~/features/shared/log-stream/log-streams.server.ts";
import { withPermission } from "~/http/access.ts";
import { respond } from "~/http/request.server.ts";

/** PRJ-3 */
export const Route = createFileRoute("/api/builds/$buildId/log")({
  server: {
    handlers: {
      GET: withPermission(
        "build.read",
        (permission) =>
          ({ request, params }) =>
            respond(request, () => buildLogStream(params.buildId, permission, request)),
      ),
    },
  },
});
