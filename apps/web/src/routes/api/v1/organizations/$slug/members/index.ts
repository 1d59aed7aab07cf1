import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";
import { organizationMembers } from "~/http/rest/people.server.ts";

export const Route = createFileRoute("/api/v1/organizations/$slug/members/")({
  server: {
    handlers: {
      GET: withPermission(
        "member.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => organizationMembers(ctx, params)),
      ),
    },
  },
});
