import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { createOrganizationKey, newKeySchema, organizationKeys } from "~/http/rest/api-keys.server.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";

export const Route = createFileRoute("/api/v1/organizations/$slug/api-keys/")({
  server: {
    handlers: {
      GET: withPermission(
        "apiKey.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => organizationKeys(ctx, params.slug, new URL(request.url).searchParams)),
      ),
      POST: withPermission(
        "apiKey.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) =>
              createOrganizationKey(ctx, params.slug, await jsonBody(request, newKeySchema)),
            ),
      ),
    },
  },
});
