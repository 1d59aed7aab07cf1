import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import { failureText } from "~/ui/toast.ts";
import { useVariables } from "../onboarding/use-variables.ts";
import { EnvironmentVariables } from "../onboarding/variable-fields.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { type Saved, SavedNote } from "./saved-note.tsx";
import { saveVariables, variablesQuery } from "./settings.functions.ts";
import { VariableList } from "./variable-list.tsx";

/** The variables of the server's process: by name, since nobody is shown a value again (KEY-1). */
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
  const [generation, setGeneration] = useState(0);
  const renew = async () => {
    await queryClient.invalidateQueries(variablesQuery(projectKey));
    onSaved("variables");
  };
  return (
    <Card id="variables" className="scroll-mt-24">
      <CardHeader
        title="Environment variables"
        description="Values are stored encrypted and are not shown again. A running server keeps its old variables until the next deployment or restart."
      />
      <CardBody className="flex flex-col gap-5">
        {variables.length === 0 ? (
          <p className="rounded-md border border-dashed px-4 py-5 text-center text-sm text-muted">
            No variables yet. Add those that your code reads from its environment.
          </p>
        ) : (
          <VariableList projectKey={projectKey} variables={variables} onChanged={renew} />
        )}
        <AddVariables
          key={generation}
          projectKey={projectKey}
          onAdded={async () => {
            await renew();
            setGeneration(generation + 1);
          }}
        />
        <SavedNote projectKey={projectKey} saved={saved} of={["variables"]} />
      </CardBody>
    </Card>
  );
}

/** Rows for new variables; a pasted `.env` block fills them (VAL-4, ONB-12). Start it anew once they are stored. */
function AddVariables({ projectKey, onAdded }: { projectKey: ProjectKey; onAdded: () => Promise<void> }) {
  const variables = useVariables([]);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    variables.showAllProblems();
    if (!variables.isValid) return;
    if (variables.filled.length === 0) return setFailure("Give a name and a value first.");
    setBusy(true);
    setFailure(null);
    try {
      await saveVariables({ data: { ...projectKey, secrets: [...variables.filled] } });
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
        note="New variables serve production and previews. A name that exists gets the new value and keeps its environments."
      />
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
