import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Field, Input } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { expandTemplate, templateVariables } from "./uri-template.ts";

type TextArgument = {
  readonly name: string;
  readonly hint: string | null;
  readonly required: boolean;
};

/** Suggests values for a typed prefix. */
type Suggest = (
  argument: { readonly name: string; readonly value: string },
  signal: AbortSignal,
) => Promise<readonly string[]>;

type TextArgumentsProps = {
  fields: readonly TextArgument[];
  initial: Readonly<Record<string, string>>;
  onChange?: (values: Record<string, string>) => void;
  onSubmit: (values: Record<string, string>) => void;
  suggest?: Suggest | undefined;
  formId?: string | undefined;
  children?: ReactNode;
};

/** Text fields for the variables of a URI template or the arguments of a prompt. */
export function TextArguments({ fields, initial, onChange, onSubmit, suggest, formId, children }: TextArgumentsProps) {
  const [values, setValues] = useState<Record<string, string>>(initial);
  const [touched, setTouched] = useState(false);
  const missing = (field: TextArgument) => field.required && !values[field.name];
  const filled = (all: Record<string, string>) =>
    Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
  return (
    <Form
      id={formId}
      onSubmit={(form) => {
        setTouched(true);
        const first = fields.findIndex(missing);
        if (first === -1) onSubmit(filled(values));
        else form.querySelectorAll("input")[first]?.focus();
      }}
    >
      <div className="flex flex-col gap-3">
        {fields.map((field) => (
          <Field
            key={field.name}
            label={
              <>
                <code>{field.name}</code>
                {field.required && <span className="ml-1.5 text-xs font-normal text-faint">required</span>}
              </>
            }
            hint={field.hint}
            error={touched && missing(field) ? "Required" : undefined}
            required={field.required}
          >
            {(control) => (
              <SuggestingInput
                {...control}
                name={field.name}
                suggest={suggest}
                value={values[field.name] ?? ""}
                onChange={(value) => {
                  const next = { ...values, [field.name]: value };
                  setValues(next);
                  onChange?.(filled(next));
                }}
              />
            )}
          </Field>
        ))}
      </div>
      <div className="mt-4 flex flex-wrap items-center gap-2 empty:hidden">{children}</div>
    </Form>
  );
}

const typingMs = 200;

type SuggestingInputProps = {
  suggest: Suggest | undefined;
  name: string;
  value: string;
  onChange: (value: string) => void;
  id: string;
};

/** A text field with the server's suggestions below it, by the browser's own list. */
function SuggestingInput({ suggest, name, value, onChange, ...control }: SuggestingInputProps) {
  const listId = useId();
  const [found, setFound] = useState<readonly string[]>([]);
  const [isFocused, setFocused] = useState(false);
  const latest = useRef(suggest);
  latest.current = suggest;
  useEffect(() => {
    if (!isFocused || !latest.current) return;
    const typing = new AbortController();
    const timer = setTimeout(() => {
      // Suggestions are a help: without them the field works as well.
      latest.current?.({ name, value }, typing.signal).then(
        (values) => !typing.signal.aborted && setFound(values),
        () => {},
      );
    }, typingMs);
    return () => {
      clearTimeout(timer);
      typing.abort();
    };
  }, [isFocused, name, value]);
  return (
    <>
      <Input
        {...control}
        value={value}
        list={suggest ? listId : undefined}
        autoComplete={suggest ? "off" : undefined}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onChange={({ target }) => onChange(target.value)}
      />
      {suggest && (
        <datalist id={listId}>
          {found.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}

type TemplateFormProps = {
  template: string;
  onChange: (uri: string) => void;
  onSubmit: (uri: string) => void;
  suggest: Suggest;
  formId: string;
};

/** The variables of a URI template as fields, with a live preview of the URI. */
export function TemplateForm({ template, onChange, onSubmit, suggest, formId }: TemplateFormProps) {
  const [values, setValues] = useState<Record<string, string>>({});
  const fields = templateVariables(template).map((variable) => ({
    name: variable.name,
    required: !variable.optional,
    hint: variable.wildcard ? "Can have several segments: a/b/c" : null,
  }));
  return (
    <TextArguments
      fields={fields}
      initial={{}}
      onChange={(next) => {
        setValues(next);
        onChange(expandTemplate(template, next));
      }}
      onSubmit={(submitted) => onSubmit(expandTemplate(template, submitted))}
      suggest={suggest}
      formId={formId}
    >
      <code className="w-full rounded-md bg-sunken px-2.5 py-1.5 text-xs break-all text-muted">
        {expandTemplate(template, values)}
      </code>
    </TextArguments>
  );
}
