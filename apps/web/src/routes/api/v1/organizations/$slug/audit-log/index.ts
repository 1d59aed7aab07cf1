import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";
import { organizationAuditLog } from "~/http/rest/people.server.ts";

export const Route = createFileRoute("/api/v1/organizations/$slug/audit-log/")({
  server: {
    handlers: {
      GET: withPermission(
        "audit.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => organizationAuditLog(ctx, params, new URL(request.url).searchParams)),
      ),
    },
  },
});
