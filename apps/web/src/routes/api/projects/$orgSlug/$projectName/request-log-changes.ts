import { createFileRoute } from "@tanstack/react-router";
import { answering } from "~/http/error-response.server.ts";
import { withPermission } from "~/http/route-access.ts";
import { requestLogStream } from "~/http/streams/log-streams.server.ts";

/** PRJ-5 */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/request-log-changes")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        (permission) =>
          ({ request, params }) =>
            answering(request, () => requestLogStream(params, permission, request)),
      ),
    },
  },
});
