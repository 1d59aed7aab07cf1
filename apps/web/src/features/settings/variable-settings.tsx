import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Card, CardBody, CardHeader } from "~/ui/card.tsx";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { AddVariables } from "./add-variables.tsx";
import { ChangedVariables } from "./changed-variables.tsx";
import { MissingVariables } from "./missing-variables.tsx";
import { type Saved, SavedNote } from "./saved-note.tsx";
import { variablesQuery } from "./settings.functions.ts";
import { useMissingVariables } from "./use-missing-variables.ts";
import { VariableList } from "./variable-list.tsx";

/** The server's environment variables. Stored values are never in the page unless somebody reveals one (KEY-1). */
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
  const missing = useMissingVariables(projectKey, variables);
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
      <VariableList projectKey={projectKey} variables={variables} onChanged={refresh} />
      <CardBody className="flex flex-col gap-5 border-t pt-4">
        <AddVariables
          projectKey={projectKey}
          stored={variables}
          missing={missing.flatMap(({ keyNames }) => keyNames)}
          onAdded={refresh}
        />
        <SavedNote projectKey={projectKey} saved={saved} of={["variables"]} />
      </CardBody>
    </Card>
  );
}
