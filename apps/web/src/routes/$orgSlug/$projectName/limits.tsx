import { createFileRoute } from "@tanstack/react-router";
import { limitsQuery } from "~/features/project/limits/limits.functions.ts";
import { LimitsPage } from "~/features/project/limits/limits-page.tsx";
import { PagePending } from "~/ui/page-pending.tsx";

/** GW-8 */
export const Route = createFileRoute("/$orgSlug/$projectName/limits")({
  loader: async ({ context, params }) => {
    await context.queryClient.fetchQuery(limitsQuery(params));
  },
  head: ({ params }) => ({ meta: [{ title: `Limits · ${params.projectName} · Towpath` }] }),
  component: LimitsRoute,
  pendingComponent: () => <PagePending title="Limits" cards={[2, 2]} className="max-w-4xl" />,
});

function LimitsRoute() {
  const { orgSlug, projectName } = Route.useParams();
  return <LimitsPage key={`${orgSlug}/${projectName}`} projectKey={{ orgSlug, projectName }} />;
}
