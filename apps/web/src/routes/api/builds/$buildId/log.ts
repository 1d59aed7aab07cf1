import { createFileRoute } from "@tanstack/react-router";
import { answering } from "~/http/error-response.server.ts";
import { buildLogStream } from "~/http/streams/build-log-stream.server.ts";

/** PRJ-3 */
export const Route = createFileRoute("/api/builds/$buildId/log")({
  server: {
    handlers: {
      GET: ({ request, params }) => answering(request, () => buildLogStream(params.buildId, request)),
    },
  },
});
