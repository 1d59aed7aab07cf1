import { useSuspenseQuery } from "@tanstack/react-query";
import { Callout } from "~/ui/callout.tsx";
import { RedeployButton } from "../build/redeploy-button.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { changedVariablesQuery } from "./settings.functions.ts";

/** Which variables have changed since the live deployments were built, and the button that applies them (KEY-2). */
export function ChangedVariables({ projectKey }: { projectKey: ProjectKey }) {
  const { data: deployments } = useSuspenseQuery(changedVariablesQuery(projectKey));
  return deployments.map(({ branch, buildId, keyNames }) => (
    <Callout
      key={buildId}
      tone="warn"
      title={`Changed since the live deployment of ${branch}: rebuild to apply`}
      actions={<RedeployButton project={projectKey} buildId={buildId} size="sm" label={`Rebuild ${branch}`} />}
    >
      {keyNames.join(", ")}
    </Callout>
  ));
}
