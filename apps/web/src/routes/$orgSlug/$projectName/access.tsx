import { createFileRoute } from "@tanstack/react-router";
import { accessQuery } from "~/features/project/access/access.functions.ts";
import { AccessPage } from "~/features/project/access/access-page.tsx";
import { PagePending } from "~/ui/page-pending.tsx";

/** GW-15 */
export const Route = createFileRoute("/$orgSlug/$projectName/access")({
  loader: async ({ context, params }) => {
    if (!context.organization.permissions.includes("access.read")) return;
    await context.queryClient.fetchQuery(accessQuery(params));
  },
  head: ({ params }) => ({ meta: [{ title: `Access · ${params.projectName} · Towpath` }] }),
  component: AccessRoute,
  pendingComponent: () => <PagePending title="Access" cards={[4, 4]} className="max-w-4xl" />,
});

function AccessRoute() {
  const { orgSlug, projectName } = Route.useParams();
  return <AccessPage key={`${orgSlug}/${projectName}`} projectKey={{ orgSlug, projectName }} />;
}
