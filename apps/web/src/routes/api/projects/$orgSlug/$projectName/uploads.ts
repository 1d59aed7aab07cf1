import { createFileRoute } from "@tanstack/react-router";
import { receiveNewVersion } from "~/features/onboarding/upload/receive-upload.server.ts";
import { withPermission } from "~/http/access.ts";
import { respond } from "~/http/request.server.ts";

/** SRC-4 */
export const Route = createFileRoute("/api/projects/$orgSlug/$projectName/uploads")({
  server: {
    handlers: {
      POST: withPermission(
        "build.start",
        (_permission) =>
          ({ request, params }) =>
            respond(request, () => receiveNewVersion(request, params)),
      ),
    },
  },
});
