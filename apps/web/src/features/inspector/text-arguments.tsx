import { type ReactNode, useState } from "react";
import { Field, Input } from "~/ui/field.tsx";
import { expandTemplate, templateVariables } from "./uri-template.ts";

type TextArgument = {
  readonly name: string;
  readonly hint: string | null;
  readonly required: boolean;
};

/** Text fields for the variables of a URI template or the arguments of a prompt. */
export function TextArguments({
  fields,
  initial,
  onChange,
  onSubmit,
  children,
}: {
  fields: readonly TextArgument[];
  initial: Readonly<Record<string, string>>;
  onChange?: (values: Record<string, string>) => void;
  onSubmit: (values: Record<string, string>) => void;
  children: ReactNode;
}) {
  const [values, setValues] = useState<Record<string, string>>(initial);
  const [touched, setTouched] = useState(false);
  const missing = (field: TextArgument) => field.required && !values[field.name];
  const filled = (all: Record<string, string>) =>
    Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTouched(true);
        if (!fields.some(missing)) onSubmit(filled(values));
      }}
    >
      <div className="flex flex-col gap-3">
        {fields.map((field) => (
          <Field
            key={field.name}
            label={<code>{field.name}</code>}
            hint={field.hint}
            error={touched && missing(field) ? "Required" : undefined}
            required={field.required}
            optional={!field.required}
          >
            {(control) => (
              <Input
                {...control}
                value={values[field.name] ?? ""}
                onChange={({ target }) => {
                  const next = { ...values, [field.name]: target.value };
                  setValues(next);
                  onChange?.(filled(next));
                }}
              />
            )}
          </Field>
        ))}
      </div>
      <div className="mt-4 flex flex-wrap items-center gap-2">{children}</div>
    </form>
  );
}

/** Replaces an empty form: says so, and keeps the buttons. */
export function NoArguments({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <p className="text-sm text-muted">No arguments</p>
      <div className="mt-4 flex flex-wrap items-center gap-2">{children}</div>
    </form>
  );
}

/** The variables of a URI template as fields, with a live preview of the URI. */
export function TemplateForm({
  template,
  onSubmit,
  children,
}: {
  template: string;
  onSubmit: (uri: string) => void;
  children: ReactNode;
}) {
  const [values, setValues] = useState<Record<string, string>>({});
  const fields = templateVariables(template).map((variable) => ({
    name: variable.name,
    required: !variable.optional,
    hint: variable.wildcard ? "May hold several segments: a/b/c" : null,
  }));
  return (
    <TextArguments
      fields={fields}
      initial={{}}
      onChange={setValues}
      onSubmit={(submitted) => onSubmit(expandTemplate(template, submitted))}
    >
      <code className="w-full rounded-md bg-sunken px-2.5 py-1.5 text-xs break-all text-muted">
        {expandTemplate(template, values)}
      </code>
      {children}
    </TextArguments>
  );
}
