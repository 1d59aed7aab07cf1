import { createFileRoute, redirect } from "@tanstack/react-router";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { NoServerOutput } from "~/features/project/server-log/server-log-page.tsx";

/** The output of what is live in production (RUN-5). */
export const Route = createFileRoute("/$orgSlug/$projectName/server-logs/")({
  loader: async ({ context, params }) => {
    const branches = await context.queryClient.ensureQueryData(branchesQuery(params));
    const live = branches.find(({ isDefault }) => isDefault)?.liveBuild;
    if (live)
      throw redirect({
        to: "/$orgSlug/$projectName/server-logs/$buildId",
        params: { ...params, buildId: live.id },
        replace: true,
      });
  },
  head: ({ params }) => ({ meta: [{ title: `Server output · ${params.projectName} · Towpath` }] }),
  component: NoServerOutput,
});
