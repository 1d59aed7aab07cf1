import { useState } from "react";
import { Button } from "~/ui/button.tsx";
import { Callout } from "~/ui/callout.tsx";
import { failureText } from "~/ui/toast.ts";
import { EnvironmentVariables } from "../onboarding/environment-variables.tsx";
import { useVariables } from "../onboarding/use-variables.ts";
import type { ProjectKey } from "../project-screen/project-key.schema.ts";
import { saveVariables } from "./settings.functions.ts";

/** Rows for new variables; a pasted `.env` block fills them (VAL-4, ONB-12). Start it anew once they are stored. */
export function AddVariables({ projectKey, onAdded }: { projectKey: ProjectKey; onAdded: () => Promise<void> }) {
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
