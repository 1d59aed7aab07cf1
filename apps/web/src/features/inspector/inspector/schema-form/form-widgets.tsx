import { enumOptionSelectedValue, enumOptionValueDecoder, getInputProps, type WidgetProps } from "@rjsf/utils";
import { ChevronsUpDown } from "lucide-react";
import { Checkbox } from "~/ui/checkbox.tsx";
import { classNames } from "~/ui/class-names.ts";
import { controlLook, Input, Textarea } from "~/ui/field.tsx";
import { isSensitive } from "../share/sensitive.ts";

const invalid = (props: WidgetProps) => (props.rawErrors && props.rawErrors.length > 0 ? true : undefined);
const describedBy = (props: WidgetProps) =>
  `${props.schema.description ? `${props.id}__description ` : ""}${invalid(props) ? `${props.id}__error` : ""}`.trim() ||
  undefined;

/** One line: text, numbers, dates. */
export function BaseInputTemplate(props: WidgetProps) {
  const { id, value, onChange, onChangeOverride, onBlur, options, schema, type, required, placeholder } = props;
  const { type: inputType, step, min, max } = getInputProps(schema, type, options);
  return (
    <Input
      id={id}
      type={inputType === "text" && isSensitive(props.name, schema) ? "password" : inputType}
      step={step}
      min={min}
      max={max}
      value={value ?? ""}
      required={required}
      placeholder={placeholder || (schema.default === undefined ? undefined : String(schema.default))}
      aria-invalid={invalid(props)}
      aria-describedby={describedBy(props)}
      onChange={
        onChangeOverride ?? ((event) => onChange(event.target.value === "" ? options.emptyValue : event.target.value))
      }
      onBlur={(event) => onBlur(id, event.target.value)}
    />
  );
}

/** Multi-line text. */
export function TextareaWidget(props: WidgetProps) {
  return (
    <Textarea
      id={props.id}
      value={props.value ?? ""}
      required={props.required}
      aria-invalid={invalid(props)}
      aria-describedby={describedBy(props)}
      onChange={(event) => props.onChange(event.target.value === "" ? props.options.emptyValue : event.target.value)}
    />
  );
}

/** One or several options. The native control, which handles hundreds of options and any label. */
export function SelectWidget(props: WidgetProps) {
  const { id, value, options, multiple = false, required, onChange, schema } = props;
  const choices = options.enumOptions ?? [];
  const decode = (picked: string | string[]) => onChange(enumOptionValueDecoder(picked, choices, "indexed", undefined));
  const select = (
    <select
      id={id}
      multiple={multiple}
      required={required}
      aria-label={props.hideLabel ? props.label : undefined}
      aria-invalid={invalid(props)}
      aria-describedby={describedBy(props)}
      value={enumOptionSelectedValue(value, choices, multiple, "indexed", multiple ? [] : "")}
      onChange={({ target }) =>
        decode(multiple ? [...target.selectedOptions].map((option) => option.value) : target.value)
      }
      className={classNames(controlLook, "w-full", multiple ? "min-h-24 px-2 py-1" : "h-8 appearance-none pr-8 pl-2.5")}
    >
      {!multiple && schema.default === undefined && <option value="">{required ? "Choose" : "Not set"}</option>}
      {choices.map((choice, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the position is the option's value
        <option key={index} value={String(index)}>
          {choice.label}
        </option>
      ))}
    </select>
  );
  if (multiple) return select;
  // Looks as the selects of ui/select.tsx.
  return (
    <span className="relative block">
      {select}
      <ChevronsUpDown className="pointer-events-none absolute top-1/2 right-2.5 size-3.5 -translate-y-1/2 text-faint" />
    </span>
  );
}

/** Yes or no. */
export function CheckboxWidget({ value, onChange, label, required }: WidgetProps) {
  return (
    <Checkbox checked={value === true} onChange={onChange}>
      <span className="font-medium break-all">{label}</span>
      {required && <span className="ml-1.5 text-xs text-faint">required</span>}
    </Checkbox>
  );
}
