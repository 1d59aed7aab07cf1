import { createFileRoute } from "@tanstack/react-router";
import { receiveNewServer } from "~/features/onboarding/upload/receive-upload.server.ts";
import { withPermission } from "~/http/with-permission.server.ts";

/** SRC-4 */
export const Route = createFileRoute("/api/organizations/$orgSlug/uploads")({
  server: {
    handlers: {
      POST: withPermission<{ orgSlug: string }>("project.create", ({ request, params }) =>
        receiveNewServer(request, params),
      ),
    },
  },
});
