import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { AddVariables } from "./add-variables.tsx";
import { ChangedVariables } from "./changed-variables.tsx";
import { type Saved, SavedNote } from "./saved-note.tsx";
import { variablesQuery } from "./settings.functions.ts";
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
        description="Values are stored encrypted; sensitive ones are not shown again. A server keeps its old variables until the next deployment. In logs, values of six characters or more are replaced with their names."
      />
      <CardBody className="flex flex-col gap-5">
        <ChangedVariables projectKey={projectKey} />
        {variables.length === 0 ? (
          <p className="rounded-md border border-dashed px-4 py-5 text-center text-sm text-muted">
            No variables yet. Add the ones your code reads from its environment.
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
