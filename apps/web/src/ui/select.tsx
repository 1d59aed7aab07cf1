import { ChevronsUpDown } from "lucide-react";
import { useState } from "react";
import { PlainButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { Field, type FieldTexts, splitField } from "./field.tsx";
import { type SelectProps, selectLook } from "./select-look.ts";
import { useLazyModule } from "./use-lazy-module.ts";

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
  const [opened, preload] = useLazyModule(() => import("./select-popup.tsx"), isUsed, setUsed);
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
