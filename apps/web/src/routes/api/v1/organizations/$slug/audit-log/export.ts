import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { operatorContext } from "~/http/caller.server.ts";
import { respond } from "~/http/request.server.ts";
import { organizationAuditExport } from "~/http/rest/people.server.ts";

export const Route = createFileRoute("/api/v1/organizations/$slug/audit-log/export")({
  server: {
    handlers: {
      GET: withPermission(
        "audit.read",
        () =>
          ({ request, params }) =>
            respond(request, async () =>
              organizationAuditExport(await operatorContext(request), params, new URL(request.url).searchParams),
            ),
      ),
    },
  },
});
