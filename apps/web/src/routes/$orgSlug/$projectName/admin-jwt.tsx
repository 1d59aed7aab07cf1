import { createFileRoute } from "@tanstack/react-router";
import { adminJwtStatsQuery } from "~/features/project/admin-jwt/admin-jwt.functions.ts";
import { AdminJwtPage } from "~/features/project/admin-jwt/admin-jwt-page.tsx";
import { PagePending } from "~/ui/page-pending.tsx";

/** PRJ-10 */
export const Route = createFileRoute("/$orgSlug/$projectName/admin-jwt")({
  loader: async ({ context, params }) => {
    if (!context.organization.permissions.includes("adminJwt.manage")) return;
    await context.queryClient.ensureQueryData(adminJwtStatsQuery(params));
  },
  head: ({ params }) => ({ meta: [{ title: `Admin JWT · ${params.projectName} · Towpath` }] }),
  component: AdminJwtRoute,
  pendingComponent: () => <PagePending title="Admin JWT" cards={[2, 2]} className="max-w-4xl" />,
});

function AdminJwtRoute() {
  const projectKey = Route.useParams();
  const { organization } = Route.useRouteContext();
  return <AdminJwtPage projectKey={projectKey} mayManage={organization.permissions.includes("adminJwt.manage")} />;
}
