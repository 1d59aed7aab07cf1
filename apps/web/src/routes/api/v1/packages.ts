import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { savePackage, savePackageSchema } from "~/http/rest/packages.server.ts";

export const Route = createFileRoute("/api/v1/packages")({
  server: {
    handlers: {
      POST: withPermission(
        "project.create",
        () =>
          ({ request }) =>
            operatorRoute(request, async (ctx) => savePackage(ctx, await jsonBody(request, savePackageSchema))),
      ),
    },
  },
});
