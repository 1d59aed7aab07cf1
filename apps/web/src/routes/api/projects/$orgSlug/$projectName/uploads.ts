import { createFileRoute } from "@tanstack/react-router";
import { receiveNewVersion } from "~/features/onboarding/upload/receive-upload.server.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** SRC-4 */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/uploads")({
  server: {
    handlers: {
      POST: withPermission("build.start", ({ request, params }) => receiveNewVersion(request, params)),
    },
  },
});
