import { createFileRoute } from "@tanstack/react-router";
import {
  instanceIsolationQuery,
  instanceReleaseQuery,
  instanceStorageQuery,
} from "~/features/organization/instance/instance.functions.ts";
import { InstancePage } from "~/features/organization/instance/instance-page.tsx";

/** RUN-1 */
export const Route = createFileRoute("/$orgSlug/settings/instance")({
  loader: ({ context, params }) =>
    Promise.all([
      context.queryClient.ensureQueryData(instanceIsolationQuery(params.orgSlug)),
      context.queryClient.ensureQueryData(instanceStorageQuery(params.orgSlug)),
      context.queryClient.ensureQueryData(instanceReleaseQuery(params.orgSlug)),
    ]),
  head: () => ({ meta: [{ title: "Instance · Towpath" }] }),
  component: Instance,
});

function Instance() {
  return <InstancePage orgSlug={Route.useParams().orgSlug} />;
}
