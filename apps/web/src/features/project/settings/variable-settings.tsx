import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { RedeployButton } from "~/features/project/build/redeploy-button.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { changedVariablesQuery, variablesQuery } from "~/features/shared/project-screen/settings.functions.ts";
import { buttonLook } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { lazyPart } from "~/ui/lazy-part.tsx";
import { SkeletonRows } from "~/ui/loading.tsx";
import { AddVariables } from "./add-variables.tsx";
import { listedNames } from "./listed-names.ts";
import { NoVariables } from "./no-variables.tsx";
import { type Saved, SavedChanges } from "./saved-changes.tsx";
import { type Missing, useMissingVariables } from "./use-missing-variables.ts";

const VariableList = lazyPart(
  async () => (await import("./variable-list.tsx")).VariableList,
  <SkeletonRows rows={3} label="Loading the variables" />,
);

const CallerInstances = lazyPart(async () => (await import("./caller-instances.tsx")).CallerInstances);
const CallerProbe = lazyPart(async () => (await import("./caller-probe.tsx")).CallerProbe);

type VariableSettingsProps = {
  projectKey: ProjectKey;
  saved: Saved;
  onSaved: (saved: Saved) => void;
};

/** The server's environment variables. The page contains a stored value only once it is revealed (KEY-1). */
export function VariableSettings({ projectKey, saved, onSaved }: VariableSettingsProps) {
  const queryClient = useQueryClient();
  const { data: variables } = useSuspenseQuery(variablesQuery(projectKey));
  const missing = useMissingVariables(projectKey, variables);
  // Stays when the last one is deleted, to move the focus.
  const [isListed, setListed] = useState(variables.length > 0);
  if (!isListed && variables.length > 0) setListed(true);
  const refresh = async () => {
    await queryClient.invalidateQueries(variablesQuery(projectKey));
    onSaved("variables");
  };
  return (
    <Card id="variables" className="scroll-mt-24">
      <CardHeader
        title="Environment variables"
        description="Values are stored encrypted; sensitive ones are not shown again. A server keeps its old variables until the next deployment. In logs, values of six characters or more are replaced with their names."
      />
      <div className="flex flex-col gap-3 px-4 pb-4 empty:hidden">
        <MissingVariables projectKey={projectKey} missing={missing} />
        <ChangedVariables projectKey={projectKey} />
      </div>
      {isListed ? <VariableList projectKey={projectKey} variables={variables} onChanged={refresh} /> : <NoVariables />}
      <CardBody className="flex flex-col gap-5 border-t pt-4">
        {variables.some(({ perCaller }) => perCaller) ? (
          <>
            <CallerInstances projectKey={projectKey} />
            <CallerProbe projectKey={projectKey} />
          </>
        ) : null}
        <AddVariables
          projectKey={projectKey}
          stored={variables}
          missing={missing.flatMap(({ keyNames }) => keyNames)}
          onAdded={refresh}
        />
        <SavedChanges projectKey={projectKey} saved={saved} of={["variables"]} />
      </CardBody>
    </Card>
  );
}

/** Which variables have changed since the live deployments were built, and the button that applies them (KEY-2). */
function ChangedVariables({ projectKey }: { projectKey: ProjectKey }) {
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

type MissingVariablesProps = {
  readonly projectKey: ProjectKey;
  readonly missing: readonly Missing[];
};

/** Names the variables that failed builds lack. */
function MissingVariables({ projectKey, missing }: MissingVariablesProps) {
  return missing.map(({ branch, buildId, keyNames }) => (
    <Callout
      key={buildId}
      tone="bad"
      title={`The latest build of ${branch} failed: ${listedNames(keyNames)} ${keyNames.length === 1 ? "is" : "are"} missing`}
      actions={
        <Link
          to="/$orgSlug/$projectName/build-logs/$buildId"
          params={{ ...projectKey, buildId }}
          className={buttonLook({ size: "sm" })}
        >
          Open build
        </Link>
      }
    >
      Add {keyNames.length === 1 ? "it" : "them"} below, then rebuild.
    </Callout>
  ));
}
