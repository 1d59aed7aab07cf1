import { useQuery } from "@tanstack/react-query";
import { createFileRoute, notFound, Outlet, redirect, useMatches } from "@tanstack/react-router";
import { TowpathError } from "@towpath/core/errors";
import { isMissing } from "~/features/shared/error-screens/failure-title.ts";
import { PageNotFound } from "~/features/shared/error-screens/page-error.tsx";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { underName } from "~/features/shared/project-screen/under-name.ts";
import { watchAccess } from "~/features/shared/session/lost-access.ts";

export const Route = createFileRoute("/$orgSlug/$projectName")({
  // PRJ-1: a missing project and one that the user may not see look the same. PRJ-11: a former name redirects.
  beforeLoad: async ({ context, params, location }) => {
    try {
      const project = await context.queryClient.fetchQuery(projectQuery(params));
      const href = underName(location.href, params, project);
      if (href !== null) throw redirect({ href, replace: true });
    } catch (error) {
      if (error instanceof TowpathError && error.code === "not_found") throw notFound();
      throw error;
    }
  },
  head: ({ params }) => ({ meta: [{ title: `${params.projectName} · Towpath` }] }),
  component: Project,
  notFoundComponent: () => <PageNotFound />,
});

function Project() {
  // A page that already shows its not-found view stays.
  const enabled = !useMatches({ select: (matches) => matches.some(isMissing) });
  useQuery({ ...projectQuery(Route.useParams()), ...watchAccess, enabled });
  return <Outlet />;
}
