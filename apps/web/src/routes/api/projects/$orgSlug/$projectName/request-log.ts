import { createFileRoute } from "@tanstack/react-router";
import { logExport } from "~/features/project/request-log/log-export.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { signedInContext } from "~/http/caller.server.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** The export of the request log, for the page's links (PRJ-5). */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/request-log")({
  server: {
    handlers: {
      GET: withPermission<ProjectKey>("project.read", async ({ request, params }, permission) => {
        const { ctx } = await signedInContext(request.headers);
        return logExport(ctx, permission, params, new URL(request.url).searchParams);
      }),
    },
  },
});
