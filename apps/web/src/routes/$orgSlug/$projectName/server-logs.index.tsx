import { createFileRoute, redirect, stripSearchParams } from "@tanstack/react-router";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { NoServerOutput } from "~/features/project/server-log/server-log-page.tsx";
import { defaultServerLogSearch, serverLogSearchParameters } from "~/features/project/server-log/server-log-search.ts";

/** The output of what is live in production (RUN-5). */
export const Route = createFileRoute("/$orgSlug/$projectName/server-logs/")({
  // For the page of what is live.
  validateSearch: serverLogSearchParameters,
  search: { middlewares: [stripSearchParams(defaultServerLogSearch)] },
  loaderDeps: ({ search }) => search,
  loader: async ({ context, params, deps }) => {
    const branches = await context.queryClient.ensureQueryData(branchesQuery(params));
    const live = branches.find(({ isDefault }) => isDefault)?.liveBuild;
    if (live)
      throw redirect({
        to: "/$orgSlug/$projectName/server-logs/$buildId",
        params: { ...params, buildId: live.id },
        search: deps,
        replace: true,
      });
  },
  head: ({ params }) => ({ meta: [{ title: `Server output · ${params.projectName} · Towpath` }] }),
  component: NoServerOutput,
});
