import { createFileRoute } from "@tanstack/react-router";
import { projectLogs } from "~/http/rest/project-logs.server.ts";
import { operatorRoute } from "~/http/rest/rest-handler.server.ts";

export const Route = createFileRoute("/api/v1/projects/$name/logs")({
  server: {
    handlers: {
      GET: ({ request, params }) =>
        operatorRoute(request, (ctx) => projectLogs(ctx, params.name, new URL(request.url).searchParams)),
    },
  },
});
