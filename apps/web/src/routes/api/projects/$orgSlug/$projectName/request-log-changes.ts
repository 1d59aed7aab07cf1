import { createFileRoute } from "@tanstack/react-router";
import { answering } from "~/http/error-response.server.ts";
import { requestLogStream } from "~/http/streams/request-log-stream.server.ts";

/** PRJ-5 */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/request-log-changes")({
  server: {
    handlers: {
      GET: ({ request, params }) => answering(request, () => requestLogStream(params, request)),
    },
  },
});
