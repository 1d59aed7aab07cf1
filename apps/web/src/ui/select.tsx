import { ChevronsUpDown } from "lucide-react";
import { type ReactNode, useState } from "react";
import { PlainButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { controlLook, Field, type FieldTexts, splitField } from "./field.tsx";
import { useLazyModule } from "./use-lazy-module.ts";

export type SelectOption<Value extends string> = {
  value: Value;
  label: string;
  /** Shown at the end of the row, for example a count. */
  detail?: ReactNode;
  /** Options of the same group are listed together under its name. */
  group?: string;
};

export type SelectProps<Value extends string> = {
  value: Value | null;
  onChange: (value: Value) => void;
  options: readonly SelectOption<Value>[];
  className?: string;
  placeholder?: string;
  disabled?: boolean;
  prefix?: ReactNode;
  id?: string;
  required?: boolean;
  "aria-label"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
};

/** A `Field` with a `Select`. */
export function SelectField<Value extends string>(props: SelectProps<Value> & FieldTexts) {
  const [texts, rest] = splitField(props);
  return <Field {...texts}>{(control) => <Select {...control} {...rest} />}</Field>;
}

/**
 * A select. Give it either `aria-label` or the props of a `Field`. Its list's code is loaded when it is opened first, as a
 * third of most pages' script.
 */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const {
    value,
    options,
    className,
    placeholder,
    disabled,
    prefix,
    onChange: _onChange,
    required: _required,
    ...labels
  } = props;
  const [isUsed, setUsed] = useState(false);
  const [opened, preload] = useLazyModule(
    () => import("./select-popup.tsx"),
    isUsed,
    () => setUsed(false),
  );
  if (isUsed && opened) return <opened.OpenedSelect {...props} />;
  const label = options.find((option) => option.value === value)?.label;
  return (
    <PlainButton
      {...labels}
      role="combobox"
      aria-haspopup="listbox"
      aria-expanded={false}
      disabled={disabled}
      className={selectLook(className)}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setUsed(true)}
      onKeyDown={(event) => {
        if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
        event.preventDefault();
        setUsed(true);
      }}
    >
      {prefix && <span className="shrink-0 text-faint [&_svg]:size-4">{prefix}</span>}
      <span className={classNames("min-w-0 flex-1 truncate", label === undefined && "text-faint")}>
        {label ?? placeholder}
      </span>
      <ChevronsUpDown className="size-3.5 text-faint" aria-hidden />
    </PlainButton>
  );
}

export const selectLook = (className: string | undefined) =>
  classNames(controlLook, "flex h-8 w-full items-center gap-2 px-2.5 text-left", className);
