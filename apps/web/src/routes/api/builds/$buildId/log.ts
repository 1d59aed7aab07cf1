import { createFileRoute } from "@tanstack/react-router";
import { answering } from "~/http/error-response.server.ts";
import { withPermission } from "~/http/route-access.ts";
import { buildLogStream } from "~/http/streams/log-streams.server.ts";

/** PRJ-3 */
export const Route = createFileRoute("/api/builds/$buildId/log")({
  server: {
    handlers: {
      GET: withPermission(
        "build.read",
        (permission) =>
          ({ request, params }) =>
            answering(request, () => buildLogStream(params.buildId, permission, request)),
      ),
    },
  },
});
