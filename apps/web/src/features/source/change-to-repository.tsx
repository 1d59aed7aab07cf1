import { useState } from "react";
import { Checkbox } from "~/ui/checkbox.tsx";
import { Field } from "~/ui/field.tsx";
import { Select } from "~/ui/select.tsx";
import { ChangeForm, type ChangeProps, useChangeSource } from "./change-form.tsx";

/** To a repository of this instance. `names`: those to choose from. */
export function ChangeToRepository({ projectKey, source, names }: ChangeProps & { readonly names: readonly string[] }) {
  const [repository, setRepository] = useState<string | null>(null);
  const [previews, setPreviews] = useState(true);
  const form = useChangeSource(projectKey);
  return (
    <ChangeForm source={source} change={repository === null ? null : { repository, previews }} form={form}>
      <Field label="Repository">
        {(control) => (
          <Select
            {...control}
            className="sm:max-w-80"
            placeholder="Choose a repository"
            value={repository}
            onChange={setRepository}
            options={names.map((name) => ({ value: name, label: name }))}
          />
        )}
      </Field>
      {repository === null ? null : (
        <Checkbox checked={previews} onChange={setPreviews} disabled={form.busy}>
          Previews of other branches
        </Checkbox>
      )}
    </ChangeForm>
  );
}
