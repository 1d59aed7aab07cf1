import { createFileRoute } from "@tanstack/react-router";
import { clearAdminJwtCache, getAdminJwt, getAdminJwtCacheStats } from "@towpath/core/admin-jwt";
import { withPermission } from "~/http/access.ts";
import { operatorProject, operatorRoute } from "~/http/rest/operator-route.server.ts";

/** PRJ-10: POST obtains the operator's token, which names nobody; GET reads the cache's statistics, DELETE clears it. */
export const Route = createFileRoute("/api/v1/projects/$name/admin-jwt")({
  server: {
    handlers: {
      POST: withPermission(
        "adminJwt.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) => {
              const { id: projectId } = await operatorProject(ctx, params.name);
              return getAdminJwt({ ctx, input: { projectId } });
            }),
      ),
      GET: withPermission(
        "adminJwt.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) => {
              const { id: projectId } = await operatorProject(ctx, params.name);
              return getAdminJwtCacheStats({ ctx, input: { projectId } });
            }),
      ),
      DELETE: withPermission(
        "adminJwt.manage",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) => {
              const { id: projectId } = await operatorProject(ctx, params.name);
              return clearAdminJwtCache({ ctx, input: { projectId } });
            }),
      ),
    },
  },
});
