import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";
import { invitationLink } from "~/http/rest/people.server.ts";

export const Route = createFileRoute("/api/v1/organizations/$slug/invitations/$invitationId/link")({
  server: {
    handlers: {
      POST: withPermission(
        "member.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => invitationLink(ctx, params)),
      ),
    },
  },
});
