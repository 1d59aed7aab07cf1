import { createFileRoute, notFound, Outlet, redirect } from "@tanstack/react-router";
import { TowpathError } from "@towpath/core/errors";
import { projectQuery } from "~/features/project-screen/project-screen.functions.ts";
import { underName } from "~/features/project-screen/under-name.ts";
import { ErrorScreen } from "~/ui/error-screen.tsx";
import { Main } from "~/ui/main.tsx";

export const Route = createFileRoute("/$orgSlug/$projectName")({
  // PRJ-1: a missing project and one that the user may not see look the same. PRJ-11: a former name leads on.
  beforeLoad: async ({ context, params, location }) => {
    try {
      const project = await context.queryClient.ensureQueryData(projectQuery(params));
      const href = underName(location.href, params, project);
      if (href !== null) throw redirect({ href, replace: true });
    } catch (error) {
      if (error instanceof TowpathError && error.code === "not_found") throw notFound();
      throw error;
    }
  },
  // The title must not claim that a project of this name exists.
  head: ({ params, match }) => ({
    meta: [{ title: `${match.status === "notFound" ? "Page Not Found" : params.projectName} · Towpath` }],
  }),
  component: Outlet,
  notFoundComponent: () => (
    <Main>
      <ErrorScreen kind="not-found" />
    </Main>
  ),
  errorComponent: ({ error }) => (
    <Main>
      <ErrorScreen error={error} />
    </Main>
  ),
});
