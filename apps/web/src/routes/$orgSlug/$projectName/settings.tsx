import { createFileRoute } from "@tanstack/react-router";
import { externalServerQuery } from "~/features/onboarding/external-server/external-server.functions.ts";
import { sourceQuery } from "~/features/onboarding/source/source.functions.ts";
import { policyQuery } from "~/features/project/release/release.functions.ts";
import { domainsQuery } from "~/features/project/settings/domains.functions.ts";
import { LateSections } from "~/features/project/settings/late-sections.tsx";
import { latencyRuleQuery } from "~/features/project/settings/latency-rule.functions.ts";
import { SettingsPage } from "~/features/project/settings/settings-page.tsx";
import { SettingsPending } from "~/features/project/settings/settings-states.tsx";
import { loadMissingVariables } from "~/features/project/settings/use-missing-variables.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import {
  captureChangeQuery,
  changedVariablesQuery,
  formerNamesQuery,
  recordedListsQuery,
  variablesQuery,
} from "~/features/shared/project-screen/settings.functions.ts";
import { oneOf, positiveInteger, searchParameters, text } from "~/http/search-parameters.ts";

/** PRJ-11, KEY-1 */
export const Route = createFileRoute("/$orgSlug/$projectName/settings")({
  // For the return from GitHub to the form that sent the person there.
  validateSearch: searchParameters({
    account: positiveInteger,
    gitHubName: text(100),
    signedInAs: text(100),
    visibility: oneOf(["private", "public"]),
  }),
  loader: async ({ context, params }) => {
    const { permissions } = context.organization;
    if (!permissions.includes("project.update")) return;
    const { queryClient } = context;
    const { kind } = await queryClient.ensureQueryData(projectQuery(params));
    await Promise.all([
      LateSections.preload(),
      queryClient.ensureQueryData(latencyRuleQuery(params)),
      // Each fails silently: its card reports it.
      queryClient.prefetchQuery(formerNamesQuery(params)),
      queryClient.prefetchQuery(domainsQuery(params)),
      queryClient.prefetchQuery(captureChangeQuery(params)),
      ...(kind === "external" ? [queryClient.ensureQueryData(externalServerQuery(params))] : []),
      ...(kind === "hosted"
        ? [
            queryClient.ensureQueryData(variablesQuery(params)),
            queryClient.ensureQueryData(changedVariablesQuery(params)),
            queryClient.ensureQueryData(policyQuery(params)),
            queryClient.prefetchQuery(sourceQuery(params)),
            queryClient.prefetchQuery(recordedListsQuery(params)),
            loadMissingVariables(queryClient, params),
          ]
        : []),
    ]);
  },
  head: ({ params }) => ({ meta: [{ title: `Settings · ${params.projectName} · Towpath` }] }),
  component: SettingsRoute,
  pendingComponent: SettingsPending,
});

function SettingsRoute() {
  const projectKey = Route.useParams();
  const { organization } = Route.useRouteContext();
  const { account, gitHubName, signedInAs, visibility } = Route.useSearch();
  const isBack = account !== undefined && gitHubName !== undefined && signedInAs !== undefined;
  return (
    <SettingsPage
      projectKey={projectKey}
      mayChange={organization.permissions.includes("project.update")}
      fromGitHub={isBack ? { account, gitHubName, signedInAs, visibility: visibility ?? "private" } : null}
    />
  );
}
