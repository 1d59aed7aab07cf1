import { createFileRoute } from "@tanstack/react-router";
import { DeployPackagePage } from "~/features/onboarding/package/deploy-package-page.tsx";
import { packageSearchParameters } from "~/features/onboarding/package/package-search.ts";
import { proposeServerName } from "~/features/onboarding/server-form/onboarding.functions.ts";

/** BLD-17 */
export const Route = createFileRoute("/$orgSlug/servers_/package")({
  validateSearch: packageSearchParameters,
  loader: ({ params }) => proposeServerName({ data: params }),
  staleTime: Number.POSITIVE_INFINITY,
  head: () => ({ meta: [{ title: "Deploy a package · Towpath" }] }),
  component: DeployPackage,
});

function DeployPackage() {
  const { orgSlug } = Route.useParams();
  return <DeployPackagePage orgSlug={orgSlug} proposal={Route.useLoaderData()} search={Route.useSearch()} />;
}
