import type { SecretView } from "@towpath/core/projects/secret";
import { type SecretEnvironment, secretEnvironments } from "@towpath/core/projects/secret/schema";
import { useState } from "react";
import { useVariables } from "~/features/onboarding/server-form/use-variables.ts";
import { EnvironmentVariables } from "~/features/onboarding/server-form/variable-fields.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { saveVariables } from "~/features/shared/project-screen/settings.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Button } from "~/ui/button.tsx";
import { Failure } from "~/ui/callout.tsx";
import { Form } from "~/ui/form.tsx";
import { UnsavedChanges } from "~/ui/unsaved-changes.tsx";
import { listedNames } from "./listed-names.ts";
import { EnvironmentChoice, PerCallerChoice, SensitiveChoice, VariableDescription } from "./variable-choices.tsx";

type AddVariablesProps = {
  projectKey: ProjectKey;
  stored: readonly SecretView[];
  /** Names to ask for, which a failed build lacked. */
  missing: readonly string[];
  onAdded: () => Promise<void>;
};

/** Rows for new variables; a pasted `.env` block fills them (VAL-4, ONB-12). */
export function AddVariables({ projectKey, stored, missing, onAdded }: AddVariablesProps) {
  const variables = useVariables([...new Set(missing)]);
  const { busy, problem: failure, run, refuse } = useSubmit();
  const [environments, setEnvironments] = useState<readonly SecretEnvironment[]>(secretEnvironments);
  const [sensitive, setSensitive] = useState(true);
  const [perCaller, setPerCaller] = useState(false);
  const [description, setDescription] = useState("");
  const isChanged = variables.filled.some((each) => each.secretValue !== "" || !missing.includes(each.keyName));
  const replaced = variables.filled.filter((each) => stored.some(({ keyName }) => keyName === each.keyName));
  const submit = async () => {
    variables.showAllProblems();
    if (!variables.isValid) return;
    if (variables.filled.length === 0) return refuse({ form: "Enter a name and a value first." });
    if (environments.length === 0) return refuse({ form: "Choose at least one environment." });
    // With several variables, or an empty description, existing ones keep theirs.
    const described = description && variables.filled.length === 1 ? { description } : {};
    const choices = { environments: [...environments], sensitive, perCaller, ...described };
    const isSaved = await run(async () => {
      const secrets = variables.filled.map((each) => ({ ...each, ...choices }));
      await saveVariables({ data: { ...projectKey, secrets } });
      variables.clear();
      setDescription("");
      setEnvironments(secretEnvironments);
      setSensitive(true);
      setPerCaller(false);
    });
    // The form is ready for more meanwhile.
    if (isSaved) await onAdded();
  };
  return (
    <Form aria-label="Add environment variables" className="flex flex-col gap-3" onSubmit={() => void submit()}>
      <UnsavedChanges when={isChanged && !busy} what="variables" />
      <EnvironmentVariables variables={variables} legend="Add variables" hint="" />
      <p role="status" className="text-sm text-warn empty:sr-only">
        {replaced.length === 0
          ? null
          : `This replaces the value of ${listedNames(replaced.map(({ keyName }) => keyName))}, with what you choose below.`}
      </p>
      {variables.filled.length > 1 ? null : <VariableDescription value={description} onChange={setDescription} />}
      <EnvironmentChoice chosen={environments} onChange={setEnvironments} />
      <SensitiveChoice checked={sensitive} onChange={setSensitive} />
      <PerCallerChoice checked={perCaller} onChange={setPerCaller} />
      <Failure title="The variables were not saved">{failure}</Failure>
      <Button type="submit" variant="primary" busy={busy} className="self-start">
        Save variables
      </Button>
    </Form>
  );
}
