import { createFileRoute, notFound, Outlet } from "@tanstack/react-router";
import { TowpathError } from "@towpath/core/errors";
import { ProjectLayout } from "~/features/project-screen/project-layout.tsx";
import { projectQuery } from "~/features/project-screen/project-screen.functions.ts";
import { ErrorScreen } from "~/ui/error-screen.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName")({
  // Project and access check come first (PRJ-1): not authorized and absent look the same.
  beforeLoad: async ({ context, params }) => {
    try {
      await context.queryClient.ensureQueryData(projectQuery(params));
    } catch (error) {
      if (error instanceof TowpathError && error.code === "not_found") throw notFound();
      throw error;
    }
  },
  // The address bar names something that is not there: the tab must not claim that it is.
  head: ({ params, match }) => ({
    meta: [{ title: `${match.status === "notFound" ? "Page Not Found" : params.projectName} · Towpath` }],
  }),
  component: ProjectRoute,
  notFoundComponent: () => (
    <main>
      <ErrorScreen kind="not-found" />
    </main>
  ),
  errorComponent: ({ error }) => (
    <main>
      <ErrorScreen error={error} />
    </main>
  ),
});

function ProjectRoute() {
  const params = Route.useParams();
  return (
    <ProjectLayout projectKey={params}>
      <Outlet />
    </ProjectLayout>
  );
}
