import { createFileRoute } from "@tanstack/react-router";
import { receiveNewServer } from "~/features/onboarding/upload/receive-upload.server.ts";
import { withPermission } from "~/http/access.ts";
import { respond } from "~/http/request.server.ts";

/** SRC-4 */
export const Route = createFileRoute("/api/organizations/$orgSlug/uploads")({
  server: {
    handlers: {
      POST: withPermission(
        "project.create",
        (_permission) =>
          ({ request, params }) =>
            respond(request, () => receiveNewServer(request, params)),
      ),
    },
  },
});
