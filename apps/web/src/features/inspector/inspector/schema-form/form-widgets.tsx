import { enumOptionSelectedValue, enumOptionValueDecoder, getInputProps, type WidgetProps } from "@rjsf/utils";
import { Input, Textarea } from "~/ui/field.tsx";
import { isSensitive } from "../share/sensitive.ts";
import { describedBy, NativeSelect, YesNo } from "./argument-field.tsx";

const invalid = (props: WidgetProps) => (props.rawErrors && props.rawErrors.length > 0 ? true : undefined);
const describedByOf = (props: WidgetProps) =>
  describedBy(props.id, Boolean(props.schema.description), invalid(props) === true);

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
      aria-describedby={describedByOf(props)}
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
      aria-describedby={describedByOf(props)}
      onChange={(event) => props.onChange(event.target.value === "" ? props.options.emptyValue : event.target.value)}
    />
  );
}

/** One or several options. */
export function SelectWidget(props: WidgetProps) {
  const { id, value, options, multiple = false, required, onChange, schema } = props;
  const choices = options.enumOptions ?? [];
  const decode = (picked: string | string[]) => onChange(enumOptionValueDecoder(picked, choices, "indexed", undefined));
  return (
    <NativeSelect
      id={id}
      multiple={multiple}
      required={required}
      aria-label={props.hideLabel ? props.label : undefined}
      aria-invalid={invalid(props)}
      aria-describedby={describedByOf(props)}
      value={enumOptionSelectedValue(value, choices, multiple, "indexed", multiple ? [] : "")}
      onChange={({ target }) =>
        decode(multiple ? [...target.selectedOptions].map((option) => option.value) : target.value)
      }
    >
      {!multiple && schema.default === undefined && <option value="">{required ? "Choose" : "Not set"}</option>}
      {choices.map((choice, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the position is the option's value
        <option key={index} value={String(index)}>
          {choice.label}
        </option>
      ))}
    </NativeSelect>
  );
}

/** Yes or no. */
export const CheckboxWidget = ({ value, onChange, label, required }: WidgetProps) => (
  <YesNo label={label} required={required === true} checked={value === true} onChange={onChange} />
);
