import { createFileRoute } from "@tanstack/react-router";
import { offersQuery } from "~/features/inspector/inspector/inspector.functions.ts";
import { InspectorPage } from "~/features/inspector/inspector/inspector-page.tsx";
import { type InspectorSearch, inspectorSearchParameters } from "~/features/inspector/inspector/inspector-search.ts";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { serverStatusQuery } from "~/features/project/delivery/status.functions.ts";
import { chosenBranch, replayedBranch } from "~/features/project/deployment/chosen-branch.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";

export const Route = createFileRoute("/$orgSlug/$projectName/inspector")({
  validateSearch: inspectorSearchParameters,
  loaderDeps: ({ search }) => ({ branchId: search.branchId, request: search.request }),
  loader: async ({ context, params, deps }) => {
    const { request } = deps;
    const readCall = async (id: string) => {
      const { explainedQuery } = await import("~/features/project/request-log/request-log.functions.ts");
      return context.queryClient.ensureQueryData(explainedQuery(params, { id }));
    };
    const [branches, replayed] = await Promise.all([
      context.queryClient.ensureQueryData(branchesQuery(params)),
      // The page reports a deleted call.
      request ? readCall(request).catch(() => null) : null,
    ]);
    const { branch } = chosenBranch(branches, replayedBranch(branches, deps, replayed?.deploymentId));
    const live = branch?.deployment;
    const { kind } = await context.queryClient.ensureQueryData(projectQuery(params));
    if (!live && kind === "hosted") return;
    await Promise.all([
      context.queryClient.ensureQueryData(offersQuery(params, live?.id ?? null)),
      // Fails silently: the page does without the state.
      branch && context.queryClient.prefetchQuery(serverStatusQuery({ key: params, branchId: branch.id })),
    ]);
  },
  head: ({ params }) => ({ meta: [{ title: `Inspector · ${params.projectName} · Towpath` }] }),
  component: InspectorRoute,
});

function InspectorRoute() {
  const projectKey = Route.useParams();
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  const change = (next: Partial<InspectorSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  return <InspectorPage projectKey={projectKey} search={search} onSearch={change} />;
}
