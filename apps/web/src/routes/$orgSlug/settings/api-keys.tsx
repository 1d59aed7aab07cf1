import { createFileRoute } from "@tanstack/react-router";
import { apiKeysQuery } from "~/features/api-keys/api-keys.functions.ts";
import { ApiKeysPage } from "~/features/api-keys/api-keys-page.tsx";
import { PageError } from "~/features/error-screens/error-screens.tsx";

/** ORG-4, KEY-3 */
export const Route = createFileRoute("/$orgSlug/settings/api-keys")({
  loader: ({ context, params }) => context.queryClient.ensureQueryData(apiKeysQuery(params.orgSlug)),
  head: () => ({ meta: [{ title: "API keys · Towpath" }] }),
  component: ApiKeys,
  errorComponent: PageError,
});

function ApiKeys() {
  const { orgSlug } = Route.useParams();
  const { organization } = Route.useRouteContext();
  return <ApiKeysPage orgSlug={orgSlug} mayCreate={organization.permissions.includes("apiKey.create")} />;
}
