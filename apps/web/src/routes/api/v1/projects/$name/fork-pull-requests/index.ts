import { createFileRoute } from "@tanstack/react-router";
import { listForkPullRequests } from "@towpath/core/fork-pull-request";
import { withPermission } from "~/http/access.ts";
import { operatorProject, operatorRoute } from "~/http/rest/operator-route.server.ts";

/** BLD-9 */
export const Route = createFileRoute("/api/v1/projects/$name/fork-pull-requests/")({
  server: {
    handlers: {
      GET: withPermission(
        "project.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) => {
              const { orgSlug, name } = await operatorProject(ctx, params.name);
              return { data: await listForkPullRequests({ ctx, input: { orgSlug, projectName: name } }) };
            }),
      ),
    },
  },
});
