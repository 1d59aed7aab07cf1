import { type SecretEnvironment, secretEnvironments } from "@towpath/core/projects/secret/schema";
import { Checkbox } from "~/ui/checkbox.tsx";
import { TextField } from "~/ui/field.tsx";

type EnvironmentChoiceProps = {
  chosen: readonly SecretEnvironment[];
  onChange: (chosen: readonly SecretEnvironment[]) => void;
};

/** Which environments get a variable. */
export function EnvironmentChoice({ chosen, onChange }: EnvironmentChoiceProps) {
  return (
    <fieldset className="flex flex-wrap gap-x-5 gap-y-2">
      <legend className="mb-1.5 text-sm font-medium">Environments</legend>
      {secretEnvironments.map((each) => (
        <Checkbox
          key={each}
          checked={chosen.includes(each)}
          onChange={(isChosen) =>
            onChange(secretEnvironments.filter((one) => (one === each ? isChosen : chosen.includes(one))))
          }
        >
          {each === "production" ? "Production" : "Previews"}
        </Checkbox>
      ))}
    </fieldset>
  );
}

/** Whether people may see the value of a variable. */
export function SensitiveChoice({ checked, onChange }: { checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <Checkbox checked={checked} onChange={onChange}>
      Sensitive: nobody can see the value again
    </Checkbox>
  );
}

/** Whether each caller brings a value of their own (CAP-1). */
export function PerCallerChoice({ checked, onChange }: { checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <Checkbox checked={checked} onChange={onChange}>
      Per caller: each person enters their own once; this value is only for builds
    </Checkbox>
  );
}

/** Field for a variable's description. */
export function VariableDescription({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return <TextField label="Description" optional value={value} maxLength={500} onChange={onChange} />;
}
