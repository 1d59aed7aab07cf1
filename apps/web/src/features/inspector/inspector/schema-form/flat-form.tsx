import { type ReactNode, useId, useState } from "react";
import type { Json } from "~/features/shared/project-screen/json.ts";
import { Input } from "~/ui/field.tsx";
import { Form } from "~/ui/form.tsx";
import { toast } from "~/ui/toast.ts";
import { isSensitive } from "../share/sensitive.ts";
import { ArgumentField, describedBy, NativeSelect, YesNo } from "./argument-field.tsx";
import type { ArgumentProblem } from "./argument-problems.ts";
import type { FlatField } from "./flat-fields.ts";
import type { Arguments } from "./form-arguments.ts";

const loadChecks = () => import("./argument-problems.ts");

type FlatFormProps = {
  readonly schema: Json;
  readonly fields: readonly FlatField[];
  readonly value: Arguments;
  readonly onChange: (value: Arguments) => void;
  readonly onSubmit: (value: Arguments) => void;
  /** For buttons elsewhere on the page. */
  readonly formId?: string | undefined;
  readonly children?: ReactNode;
};

/**
 * A form of arguments with one control each. `onSubmit` gets data that is valid for the schema. The validator is loaded
 * once the form is used.
 */
export function FlatForm({ schema, fields, value, onChange, onSubmit, formId, children }: FlatFormProps) {
  const prefix = useId();
  const [problems, setProblems] = useState<readonly ArgumentProblem[]>([]);
  const problemsOf = (name: string | undefined) => problems.filter(({ path }) => path[0] === name);
  const change = (name: string, next: unknown) => {
    const { [name]: _before, ...others } = value;
    onChange(next === undefined ? others : { ...value, [name]: next });
    setProblems((before) => before.filter(({ path }) => path[0] !== name));
  };
  const submit = async (form: HTMLFormElement) => {
    try {
      const { argumentProblems } = await loadChecks();
      const found = argumentProblems(schema, value);
      setProblems(found);
      if (found.length === 0) return onSubmit(value);
      const first = fields.findIndex(({ name }) => found.some(({ path }) => path[0] === name));
      form.querySelectorAll<HTMLElement>("[data-argument] :is(input, select)")[Math.max(first, 0)]?.focus();
    } catch {
      toast.error("The arguments couldn't be checked. Check your connection and try again.");
    }
  };
  return (
    <Form id={formId} onSubmit={submit} onFocus={() => void loadChecks().catch(() => {})}>
      <fieldset className="flex min-w-0 flex-col gap-3.5">
        {fields.map((field) => {
          const id = `${prefix}${field.name}`;
          const texts = problemsOf(field.name).map(({ message }) => message);
          return (
            <div key={field.name} data-argument={field.name} className="flex min-w-0 flex-col gap-1">
              <ArgumentField
                id={id}
                label={field.control === "boolean" ? null : field.label}
                required={field.required}
                description={field.description}
                problems={texts}
              >
                <Control
                  id={id}
                  field={field}
                  value={value[field.name]}
                  isInvalid={texts.length > 0}
                  onChange={(next) => change(field.name, next)}
                />
              </ArgumentField>
            </div>
          );
        })}
        {problemsOf(undefined).map(({ message }) => (
          <p key={message} className="text-xs text-bad">
            {message}
          </p>
        ))}
      </fieldset>
      <div className="mt-4 flex flex-wrap items-center gap-2 empty:hidden">{children}</div>
    </Form>
  );
}

type ControlProps = {
  readonly id: string;
  readonly field: FlatField;
  readonly value: unknown;
  readonly isInvalid: boolean;
  /** Undefined: left empty. */
  readonly onChange: (value: unknown) => void;
};

function Control({ id, field, value, isInvalid, onChange }: ControlProps) {
  const { control, schema, label, required } = field;
  if (control === "boolean")
    return <YesNo label={label} required={required} checked={value === true} onChange={onChange} />;
  const texts = {
    id,
    required,
    "aria-invalid": isInvalid || undefined,
    "aria-describedby": describedBy(id, field.description !== null, isInvalid),
  };
  if (control === "choice") {
    const choices = Array.isArray(schema.enum) ? schema.enum : [];
    return (
      <NativeSelect
        {...texts}
        value={choices.includes(value) ? choices.indexOf(value) : ""}
        onChange={({ target }) => onChange(target.value === "" ? undefined : choices[Number(target.value)])}
      >
        {schema.default === undefined && <option value="">{required ? "Choose" : "Not set"}</option>}
        {choices.map((choice, index) => (
          <option key={String(choice)} value={index}>
            {String(choice)}
          </option>
        ))}
      </NativeSelect>
    );
  }
  const isNumber = control === "number";
  return (
    <Input
      {...texts}
      type={control === "text" && isSensitive(field.name, schema) ? "password" : control}
      {...(isNumber ? numberLimits(schema) : {})}
      placeholder={schema.default === undefined ? undefined : String(schema.default)}
      value={typeof value === (isNumber ? "number" : "string") ? String(value) : ""}
      onChange={({ target }) =>
        onChange(target.value === "" ? undefined : isNumber ? Number(target.value) : target.value)
      }
    />
  );
}

const numberLimits = ({ type, multipleOf, minimum, maximum }: Json) => ({
  step: typeof multipleOf === "number" ? multipleOf : type === "integer" ? 1 : "any",
  ...(typeof minimum === "number" ? { min: minimum } : {}),
  ...(typeof maximum === "number" ? { max: maximum } : {}),
});
