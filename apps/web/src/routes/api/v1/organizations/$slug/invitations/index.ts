import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";
import { createInvitations, organizationInvitations } from "~/http/rest/people.server.ts";

export const Route = createFileRoute("/api/v1/organizations/$slug/invitations/")({
  server: {
    handlers: {
      GET: withPermission(
        "member.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => organizationInvitations(ctx, params)),
      ),
      POST: withPermission(
        "member.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => createInvitations(ctx, params, request)),
      ),
    },
  },
});
