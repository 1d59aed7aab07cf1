import { createFileRoute } from "@tanstack/react-router";
import { requestLogStream } from "~/features/shared/log-stream/log-streams.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** PRJ-5 */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/request-log-changes")({
  server: {
    handlers: {
      GET: withPermission<ProjectKey>("project.read", ({ request, params }, permission) =>
        requestLogStream(params, permission, request),
      ),
    },
  },
});
