import { TextareaField } from "~/ui/field.tsx";

type InstructionsFieldProps = {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
  readonly disabled?: boolean;
};

/** Instructions for models about a portal as a whole. */
export function InstructionsField({ value, onChange, error, disabled = false }: InstructionsFieldProps) {
  return (
    <TextareaField
      label="Instructions"
      error={error}
      hint="Optional. Clients pass them to their model: when to use which tools, for example."
      rows={3}
      value={value}
      disabled={disabled}
      onChange={onChange}
    />
  );
}
