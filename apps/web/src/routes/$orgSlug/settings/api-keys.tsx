import { createFileRoute } from "@tanstack/react-router";
import { apiKeysQuery } from "~/features/organization/api-keys/api-keys.functions.ts";
import { ApiKeysPage, ApiKeysPending } from "~/features/organization/api-keys/api-keys-page.tsx";
import { signInIssuersQuery } from "~/features/organization/api-keys/sign-in-issuers.functions.ts";
import { workloadsQuery } from "~/features/organization/api-keys/workloads.functions.ts";

/** ORG-4, KEY-3, KEY-6, CAP-3 */
export const Route = createFileRoute("/$orgSlug/settings/api-keys")({
  loader: async ({ context, params }) => {
    const { permissions } = context.organization;
    const load = (list: Parameters<typeof apiKeysQuery>[1]) =>
      context.queryClient.ensureQueryData(apiKeysQuery(params.orgSlug, list));
    await Promise.all([
      load("me"),
      permissions.includes("apiKey.read") && load("organization"),
      permissions.includes("apiKey.manage") && load("everyone"),
      permissions.includes("signInIssuer.read") &&
        context.queryClient.ensureQueryData(signInIssuersQuery(params.orgSlug)),
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
