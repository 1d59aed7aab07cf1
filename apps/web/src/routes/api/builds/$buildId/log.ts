import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { respond } from "~/http/request.server.ts";
import { buildLogStream } from "~/http/streams/log-streams.server.ts";

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
