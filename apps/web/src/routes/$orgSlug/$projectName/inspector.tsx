import { createFileRoute } from "@tanstack/react-router";
import { branchesQuery } from "~/features/deployment/deployment.functions.ts";
import { branchManifestQuery, inspectedBranch } from "~/features/inspector/inspector.functions.ts";
import { InspectorPage } from "~/features/inspector/inspector-page.tsx";
import { type InspectorSearch, inspectorSearchParameters } from "~/features/inspector/inspector-search.ts";

export const Route = createFileRoute("/$orgSlug/$projectName/inspector")({
  validateSearch: inspectorSearchParameters,
  loaderDeps: ({ search }) => ({ branchId: search.branchId }),
  loader: async ({ context, params, deps }) => {
    const branches = await context.queryClient.ensureQueryData(branchesQuery(params));
    const branch = inspectedBranch(branches, deps.branchId);
    if (branch) await context.queryClient.ensureQueryData(branchManifestQuery(params, branch.id));
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
