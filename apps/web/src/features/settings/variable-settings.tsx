import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { AddVariables } from "./add-variables.tsx";
import { type Saved, SavedNote } from "./saved-note.tsx";
import { variablesQuery } from "./settings.queries.ts";
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
