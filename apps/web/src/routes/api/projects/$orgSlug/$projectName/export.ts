import { createFileRoute } from "@tanstack/react-router";
import { exportArchive } from "~/features/project/export/export-archive.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { signedInContext } from "~/http/caller.server.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** The export of a server, for the settings' link (OPS-8). */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/export")({
  server: {
    handlers: {
      GET: withPermission<ProjectKey>("secret.read", async ({ request, params }) => {
        const { ctx } = await signedInContext(request.headers);
        return exportArchive(ctx, params);
      }),
    },
  },
});
