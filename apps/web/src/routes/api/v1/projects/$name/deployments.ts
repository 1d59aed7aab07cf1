import { createFileRoute } from "@tanstack/react-router";
import { listBuilds } from "@towpath/core/build";
import { listBuildsSchema } from "@towpath/core/build/schema";
import { parseInput } from "@towpath/core/input";
import { withPermission } from "~/http/access.ts";
import { operatorProject, operatorRoute } from "~/http/rest/operator-route.server.ts";

const querySchema = listBuildsSchema.pick({ limit: true, after: true, branch: true });

/** Builds that have a deployment, newest first (PRJ-2). */
export const Route = createFileRoute("/api/v1/projects/$name/deployments")({
  server: {
    handlers: {
      GET: withPermission(
        "build.read",
        () =>
          ({ request, params }) =>
            operatorRoute(request, async (ctx) => {
              const query = parseInput(querySchema, Object.fromEntries(new URL(request.url).searchParams));
              const { orgSlug, name } = await operatorProject(ctx, params.name);
              return listBuilds({ ctx, input: { orgSlug, projectName: name, deployed: true, ...query } });
            }),
      ),
    },
  },
});
