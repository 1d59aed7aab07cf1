import { createFileRoute } from "@tanstack/react-router";
import { getBuild } from "@towpath/core/build";
import { withPermission } from "~/http/access.ts";
import { operatorRoute } from "~/http/rest/operator-route.server.ts";

export const Route = createFileRoute("/api/v1/builds/$buildId/")({
  server: {
    handlers: {
      GET: withPermission(
        "build.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) => {
              const build = await getBuild({ ctx, input: { buildId: params.buildId } });
              return {
                build,
                url: build.deployment?.url ?? null,
                diagnosis: build.diagnosis,
                warnings: build.warnings,
              };
            }),
      ),
    },
  },
});
