import { createFileRoute } from "@tanstack/react-router";
import { apiKeysQuery } from "~/features/organization/api-keys/api-keys.functions.ts";
import { ApiKeysPage, ApiKeysPending } from "~/features/organization/api-keys/api-keys-page.tsx";
import { workloadsQuery } from "~/features/organization/api-keys/workloads.functions.ts";

/** ORG-4, KEY-3, KEY-6 */
export const Route = createFileRoute("/$orgSlug/settings/api-keys")({
  loader: async ({ context, params }) => {
    const { permissions } = context.organization;
    const load = (list: Parameters<typeof apiKeysQuery>[1]) =>
      context.queryClient.ensureQueryData(apiKeysQuery(params.orgSlug, list));
    await Promise.all([
      load("me"),
      permissions.includes("apiKey.read") && load("organization"),
      permissions.includes("apiKey.manage") && load("everyone"),
      permissions.includes("workload.read") && context.queryClient.ensureQueryData(workloadsQuery(params.orgSlug)),
    ]);
  },
  head: () => ({ meta: [{ title: "API keys · Towpath" }] }),
  component: ApiKeys,
  pendingComponent: ApiKeysPending,
});

function ApiKeys() {
  const { orgSlug } = Route.useParams();
  return <ApiKeysPage orgSlug={orgSlug} />;
}
