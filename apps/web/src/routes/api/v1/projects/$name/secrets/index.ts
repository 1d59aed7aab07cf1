import { createFileRoute } from "@tanstack/react-router";
import { createSecretSchema } from "@towpath/core/secret/schema";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorRoute } from "~/http/rest/operator-route.server.ts";
import { createProjectSecret, maxSecretBodyBytes, projectSecrets } from "~/http/rest/secrets.server.ts";

/** KEY-1, KEY-5 */
export const Route = createFileRoute("/api/v1/projects/$name/secrets/")({
  server: {
    handlers: {
      GET: withPermission(
        "secret.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, (ctx) => projectSecrets(ctx, params.name)),
      ),
      POST: withPermission(
        "secret.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) =>
              createProjectSecret(ctx, params.name, await jsonBody(request, createSecretSchema, maxSecretBodyBytes)),
            ),
      ),
    },
  },
});
