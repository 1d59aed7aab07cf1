import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { type SecretEnvironment, secretEnvironments } from "@towpath/core/secret/schema";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { Checkbox } from "~/ui/checkbox.tsx";
import { failureText } from "~/ui/toast.ts";
import { useVariables } from "../onboarding/use-variables.ts";
import { EnvironmentVariables } from "../onboarding/variable-fields.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { ChangedVariables } from "./changed-variables.tsx";
import { type Saved, SavedNote } from "./saved-note.tsx";
import { saveVariables, variablesQuery } from "./settings.functions.ts";
import { VariableList } from "./variable-list.tsx";

/** The server's environment variables, by name only: stored values are never shown (KEY-1). */
export function VariableSettings({
  projectKey,
  saved,
  onSaved,
}: {
  projectKey: ProjectKey;
  saved: Saved;
  onSaved: (saved: Saved) => void;
}) {
  const queryClient = useQueryClient();
  const { data: variables } = useSuspenseQuery(variablesQuery(projectKey));
  const [formKey, setFormKey] = useState(0);
  const refresh = async () => {
    await queryClient.invalidateQueries(variablesQuery(projectKey));
    onSaved("variables");
  };
  return (
    <Card id="variables" className="scroll-mt-24">
      <CardHeader
        title="Environment variables"
        description="Values are stored encrypted; sensitive ones are not shown again. A server keeps its old variables until the next deployment. In logs, values of six characters or more are replaced by their names."
      />
      <CardBody className="flex flex-col gap-5">
        <ChangedVariables projectKey={projectKey} />
        {variables.length === 0 ? (
          <p className="rounded-md border border-dashed px-4 py-5 text-center text-sm text-muted">
            No variables yet. Add those that your code reads from its environment.
          </p>
        ) : (
          <VariableList projectKey={projectKey} variables={variables} onChanged={refresh} />
        )}
        <AddVariables
          key={formKey}
          projectKey={projectKey}
          onAdded={async () => {
            await refresh();
            setFormKey(formKey + 1);
          }}
        />
        <SavedNote projectKey={projectKey} saved={saved} of={["variables"]} />
      </CardBody>
    </Card>
  );
}

/** Rows for new variables; a pasted `.env` block fills them (VAL-4, ONB-12). Remount it after saving, to clear the rows. */
function AddVariables({ projectKey, onAdded }: { projectKey: ProjectKey; onAdded: () => Promise<void> }) {
  const variables = useVariables([]);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [environments, setEnvironments] = useState<readonly SecretEnvironment[]>(secretEnvironments);
  const [sensitive, setSensitive] = useState(true);
  const submit = async () => {
    variables.showAllProblems();
    if (!variables.isValid) return;
    if (variables.filled.length === 0) return setFailure("Enter a name and a value first.");
    if (environments.length === 0) return setFailure("Choose at least one environment.");
    setBusy(true);
    setFailure(null);
    try {
      await saveVariables({
        data: {
          ...projectKey,
          secrets: variables.filled.map((each) => ({ ...each, environments: [...environments], sensitive })),
        },
      });
      await onAdded();
    } catch (error) {
      setFailure(failureText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      noValidate
      aria-label="Add environment variables"
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <EnvironmentVariables
        variables={variables}
        legend="Add variables"
        note="An existing name gets the new value and what you choose below."
      />
      <fieldset className="flex flex-wrap gap-x-5 gap-y-2">
        <legend className="mb-1.5 text-sm font-medium">Environments</legend>
        {secretEnvironments.map((each) => (
          <Checkbox
            key={each}
            checked={environments.includes(each)}
            onChange={(chosen) =>
              setEnvironments(chosen ? [...environments, each] : environments.filter((other) => other !== each))
            }
          >
            {each === "production" ? "Production" : "Previews"}
          </Checkbox>
        ))}
      </fieldset>
      <Checkbox checked={sensitive} onChange={setSensitive}>
        Sensitive: nobody can see the value again
      </Checkbox>
      {failure ? (
        <Callout tone="bad" title="The variables were not saved">
          {failure}
        </Callout>
      ) : null}
      <Button type="submit" variant="primary" busy={busy} className="self-start">
        Save variables
      </Button>
    </form>
  );
}
