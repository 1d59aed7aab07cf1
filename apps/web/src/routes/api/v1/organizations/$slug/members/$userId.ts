import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";
import { changeMember, endMember } from "~/http/rest/people.server.ts";

export const Route = createFileRoute("/api/v1/organizations/$slug/members/$userId")({
  server: {
    handlers: {
      PATCH: withPermission(
        "member.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => changeMember(ctx, params, request)),
      ),
      DELETE: withPermission(
        "member.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => endMember(ctx, params)),
      ),
    },
  },
});
