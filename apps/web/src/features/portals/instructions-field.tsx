import { Field, Textarea } from "~/ui/field.tsx";

/** What clients tell their model about a portal as a whole. */
export function InstructionsField({
  value,
  onChange,
  error,
  disabled = false,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
  readonly disabled?: boolean;
}) {
  return (
    <Field
      label="Instructions"
      error={error}
      hint="Optional. Clients pass them to their model: when to use which tools, for example."
    >
      {(control) => (
        <Textarea
          {...control}
          rows={3}
          value={value}
          disabled={disabled}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
