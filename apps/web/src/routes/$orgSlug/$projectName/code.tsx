import { createFileRoute, notFound, redirect } from "@tanstack/react-router";
import { TowpathError } from "@towpath/core/errors";
import { fileQuery, filesQuery } from "~/features/project/code/code.functions.ts";
import { CodePage } from "~/features/project/code/code-page.tsx";
import { codeSearchParameters } from "~/features/project/code/code-search-parameters.ts";
import { CodeError, CodeNotFound } from "~/features/project/code/code-states.tsx";
import { firstFile } from "~/features/project/code/first-file.ts";
import { withOwnError } from "~/features/shared/error-screens/page-error.tsx";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { PagePending } from "~/ui/page-pending.tsx";

/** CAP-5 */
export const Route = createFileRoute("/$orgSlug/$projectName/code")({
  // Only servers that are built here have code.
  beforeLoad: async ({ context, params }) => {
    const { kind } = await context.queryClient.ensureQueryData(projectQuery(params));
    if (kind !== "hosted") throw redirect({ to: "/$orgSlug/$projectName/inspector", params, replace: true });
  },
  validateSearch: codeSearchParameters,
  loaderDeps: ({ search: { branch } }) => ({ branch }),
  loader: async ({ context: { queryClient }, params, deps: { branch }, location }) => {
    try {
      const view = await queryClient.ensureQueryData(filesQuery(params, branch));
      // Links name the branch.
      queryClient.setQueryData(filesQuery(params, view.branch).queryKey, view);
      // Of the address that the page is entered by: other files open within it.
      const { file } = codeSearchParameters.parse(location.search);
      const path = file ?? firstFile(view.paths, await queryClient.ensureQueryData(projectQuery(params)));
      const at = { branch: view.branch, sha: view.commit.sha };
      // The page reports an unreadable file.
      if (path !== undefined && view.paths.includes(path)) await queryClient.prefetchQuery(fileQuery(params, at, path));
    } catch (error) {
      if (!(error instanceof TowpathError && error.code === "not_found")) throw error;
      // Either the project is gone, or what it has no longer, or not yet.
      await queryClient.fetchQuery({ ...projectQuery(params), staleTime: 0 });
      throw notFound({ data: error.message });
    }
  },
  head: ({ params }) => ({ meta: [{ title: `Code · ${params.projectName} · Towpath` }] }),
  component: () => <CodePage projectKey={Route.useParams()} search={Route.useSearch()} />,
  pendingComponent: () => <PagePending title="Code" cards={[10]} />,
  errorComponent: withOwnError(CodeError),
  notFoundComponent: ({ data }) => (
    <CodeNotFound projectKey={Route.useParams()} branch={Route.useSearch().branch} reason={data} />
  ),
});
