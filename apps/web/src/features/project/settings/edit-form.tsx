import type { SecretView } from "@towpath/core/projects/secret";
import { secretValueProblem } from "@towpath/core/projects/secret/schema";
import { useState } from "react";
import { WithError } from "~/features/onboarding/server-form/variable-fields.tsx";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { changeVariable } from "~/features/shared/project-screen/settings.functions.ts";
import { useSubmit } from "~/http/use-submit.ts";
import { Failure } from "~/ui/callout.tsx";
import { Form, FormEnd } from "~/ui/form.tsx";
import { SecretInput } from "~/ui/secret-input.tsx";
import { EnvironmentChoice, PerCallerChoice, SensitiveChoice, VariableDescription } from "./variable-choices.tsx";

export type Edited = {
  projectKey: ProjectKey;
  variable: SecretView;
  onChanged: () => Promise<void>;
};

/** The form of `EditVariable`. */
export function EditForm({ projectKey, variable, onChanged, onClose }: Edited & { onClose: () => void }) {
  const { keyName } = variable;
  const [secretValue, setValue] = useState("");
  const [description, setDescription] = useState(variable.description ?? "");
  const [environments, setEnvironments] = useState(variable.environments);
  const [sensitive, setSensitive] = useState(variable.sensitive);
  const [perCaller, setPerCaller] = useState(variable.perCaller);
  const { busy, problem: failure, run, refuse } = useSubmit();
  const invalid = secretValue === "" ? null : secretValueProblem(secretValue);
  const submit = async () => {
    if (invalid) return;
    if (environments.length === 0) return refuse({ form: "Choose at least one environment." });
    // Only changed fields: somebody else may have changed others.
    const changes = {
      ...(secretValue !== "" && { secretValue }),
      ...(description !== (variable.description ?? "") && { description }),
      ...(environments.join() !== variable.environments.join() && { environments: [...environments] }),
      ...(sensitive !== variable.sensitive && { sensitive }),
      ...(perCaller !== variable.perCaller && { perCaller }),
    };
    if (Object.keys(changes).length === 0) return onClose();
    await run(async () => {
      await changeVariable({ data: { ...projectKey, keyName, ...changes } });
      onClose();
      await onChanged();
    });
  };
  return (
    <Form className="flex flex-col gap-4" onSubmit={() => void submit()}>
      <div className="flex flex-col gap-1.5">
        <span className="text-sm font-medium">New value</span>
        <WithError problem={invalid}>
          {(control) => (
            <SecretInput
              control={control}
              called={keyName}
              value={secretValue}
              placeholder="Unchanged"
              onChange={setValue}
            />
          )}
        </WithError>
      </div>
      <VariableDescription value={description} onChange={setDescription} />
      <EnvironmentChoice chosen={environments} onChange={setEnvironments} />
      <SensitiveChoice checked={sensitive} onChange={setSensitive} />
      <PerCallerChoice checked={perCaller} onChange={setPerCaller} />
      <Failure title="The variable was not changed">{failure}</Failure>
      <FormEnd busy={busy} submit="Save changes" onCancel={onClose} />
    </Form>
  );
}
