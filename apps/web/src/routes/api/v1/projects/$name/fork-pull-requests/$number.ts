import { createFileRoute } from "@tanstack/react-router";
import { decideForkPullRequest, decisionSchema } from "@towpath/core/fork-pull-request";
import { withPermission } from "~/http/access.ts";
import { jsonBody, operatorProject, operatorRoute } from "~/http/rest/operator-route.server.ts";

const bodySchema = decisionSchema.omit({ number: true });

/** BLD-9 */
export const Route = createFileRoute("/api/v1/projects/$name/fork-pull-requests/$number")({
  server: {
    handlers: {
      POST: withPermission(
        "build.approve",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) => {
              const { orgSlug, name } = await operatorProject(ctx, params.name);
              const decision = await jsonBody(request, bodySchema);
              const input = { orgSlug, projectName: name, number: params.number, ...decision };
              return decideForkPullRequest({ ctx, input });
            }),
      ),
    },
  },
});
