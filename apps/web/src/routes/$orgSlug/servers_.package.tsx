import { createFileRoute } from "@tanstack/react-router";
import { proposeServerName } from "~/features/onboarding/onboarding.functions.ts";
import { DeployPackagePage } from "~/features/package/deploy-package-page.tsx";
import { packageSearchParameters } from "~/features/package/package-search.ts";

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
