import { createFileRoute } from "@tanstack/react-router";
import { adminJwtStatsQuery } from "~/features/project/admin-jwt/admin-jwt.functions.ts";
import { AdminJwtPage, AdminJwtPending } from "~/features/project/admin-jwt/admin-jwt-page.tsx";

/** PRJ-10 */
export const Route = createFileRoute("/$orgSlug/$projectName/admin-jwt")({
  loader: async ({ context, params }) => {
    if (!context.organization.permissions.includes("adminJwt.manage")) return;
    await context.queryClient.ensureQueryData(adminJwtStatsQuery(params));
  },
  head: ({ params }) => ({ meta: [{ title: `Admin JWT · ${params.projectName} · Towpath` }] }),
  component: AdminJwtRoute,
  pendingComponent: AdminJwtPending,
});

function AdminJwtRoute() {
  const projectKey = Route.useParams();
  const { organization } = Route.useRouteContext();
  return <AdminJwtPage projectKey={projectKey} mayManage={organization.permissions.includes("adminJwt.manage")} />;
}
