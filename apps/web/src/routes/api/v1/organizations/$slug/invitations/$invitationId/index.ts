import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";
import { endInvitation } from "~/http/rest/people.server.ts";

export const Route = createFileRoute("/api/v1/organizations/$slug/invitations/$invitationId/")({
  server: {
    handlers: {
      DELETE: withPermission(
        "member.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => endInvitation(ctx, params)),
      ),
    },
  },
});
