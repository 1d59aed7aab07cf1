import { createFileRoute } from "@tanstack/react-router";
import { createPortalSchema } from "@towpath/core/portal/schema";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { createOrganizationPortal, organizationPortals } from "~/http/rest/portals.server.ts";

/** ORG-3 */
export const Route = createFileRoute("/api/v1/organizations/$slug/portals")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => organizationPortals(ctx, params.slug)),
      ),
      POST: withPermission(
        "project.create",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) =>
              createOrganizationPortal(ctx, params.slug, await jsonBody(request, createPortalSchema)),
            ),
      ),
    },
  },
});
