import { createFileRoute, stripSearchParams } from "@tanstack/react-router";
import { defaultErrorSearch, type ErrorSearch, errorSearchParameters } from "~/features/project/errors/error-search.ts";
import { errorsQuery } from "~/features/project/errors/errors.functions.ts";
import { ErrorsPage } from "~/features/project/errors/errors-page.tsx";
import { openDefaultView } from "~/features/shared/saved-views/default-view.ts";
import { PagePending } from "~/ui/page-pending.tsx";

/** CAP-6 */
export const Route = createFileRoute("/$orgSlug/$projectName/errors/")({
  validateSearch: errorSearchParameters,
  search: { middlewares: [stripSearchParams(defaultErrorSearch)] },
  beforeLoad: (opening) => openDefaultView(opening, "errors", errorSearchParameters),
  loaderDeps: ({ search }) => search,
  loader: ({ context, params, deps }) => context.queryClient.ensureQueryData(errorsQuery(params, deps)),
  head: ({ params }) => ({ meta: [{ title: `Errors · ${params.projectName} · Towpath` }] }),
  component: ErrorsRoute,
  pendingComponent: () => <PagePending title="Errors" cards={[8]} />,
});

function ErrorsRoute() {
  const navigate = Route.useNavigate();
  const change = (next: Partial<ErrorSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  return <ErrorsPage projectKey={Route.useParams()} search={Route.useSearch()} onSearch={change} />;
}
