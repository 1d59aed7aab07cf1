import { createFileRoute } from "@tanstack/react-router";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import {
  changeProjectSecret,
  changeSecretSchema,
  deleteProjectSecret,
  maxSecretBodyBytes,
} from "~/http/rest/secrets.server.ts";

/** KEY-1. Reading a value is for people in the dashboard: the operator's token names nobody in the audit log. */
export const Route = createFileRoute("/api/v1/projects/$name/secrets/$keyName")({
  server: {
    handlers: {
      PATCH: withPermission(
        "secret.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) =>
              changeProjectSecret(ctx, params, await jsonBody(request, changeSecretSchema, maxSecretBodyBytes)),
            ),
      ),
      DELETE: withPermission(
        "secret.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => deleteProjectSecret(ctx, params)),
      ),
    },
  },
});
