import type { ReactNode } from "react";
import { TextareaField } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { type Arguments, parseArguments } from "./schema-form/form-arguments.ts";

type JsonArgumentsProps = {
  text: string;
  onChange: (text: string) => void;
  onSubmit: (value: Arguments) => void;
  formId: string | undefined;
  buttons: ReactNode;
};

/** A tool's arguments as a text. */
export function JsonArguments({ text, onChange, onSubmit, formId, buttons }: JsonArgumentsProps) {
  const parsed = parseArguments(text);
  return (
    <Form
      id={formId}
      onSubmit={(form) => {
        if (parsed.ok) onSubmit(parsed.value);
        else form.querySelector("textarea")?.focus();
      }}
    >
      <TextareaField
        label="Arguments as JSON"
        error={parsed.ok ? undefined : parsed.problem}
        mono
        className="min-h-36"
        value={text}
        onChange={onChange}
      />
      <div className="mt-4 flex flex-wrap items-center gap-2 empty:hidden">{buttons}</div>
    </Form>
  );
}
