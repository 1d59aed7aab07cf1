import { createFileRoute } from "@tanstack/react-router";
import { answering } from "~/http/error-response.server.ts";
import { serverLogStream } from "~/http/streams/server-log-stream.server.ts";

/** PRJ-3 */
export const Route = createFileRoute("/api/deployments/$deploymentId/log")({
  server: {
    handlers: {
      GET: ({ request, params }) => answering(request, () => serverLogStream(params.deploymentId, request)),
    },
  },
});
