import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";
import { changeOrganization } from "~/http/rest/people.server.ts";

export const Route = createFileRoute("/api/v1/organizations/$slug/")({
  server: {
    handlers: {
      PATCH: withPermission(
        "organization.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => changeOrganization(ctx, params, request)),
      ),
    },
  },
});
