import { createFileRoute } from "@tanstack/react-router";
import { updatePortalSchema } from "@towpath/core/portal/schema";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { changePortal, portalContents } from "~/http/rest/portals.server.ts";

/** ORG-3 */
export const Route = createFileRoute("/api/v1/projects/$name/portal")({
  server: {
    handlers: {
      GET: withPermission(
        "build.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => portalContents(ctx, params.name)),
      ),
      PATCH: withPermission(
        "project.update",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) =>
              changePortal(ctx, params.name, await jsonBody(request, updatePortalSchema)),
            ),
      ),
    },
  },
});
