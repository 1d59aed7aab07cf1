import { createFileRoute } from "@tanstack/react-router";
import { receiveNewVersion } from "~/features/onboarding/upload/receive-upload.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** SRC-4 */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/uploads")({
  server: {
    handlers: {
      POST: withPermission<ProjectKey>("build.start", ({ request, params }) => receiveNewVersion(request, params)),
    },
  },
});
