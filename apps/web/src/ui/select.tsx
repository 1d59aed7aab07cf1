import { Select as BaseSelect } from "@base-ui/react/select";
import { Check, ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";
import { PlainButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { controlLook, Field, type FieldTexts, splitField } from "./field.tsx";

type SelectOption<Value extends string> = {
  value: Value;
  label: string;
  /** Shown at the end of the row, for example a count. */
  detail?: ReactNode;
  /** Options of the same group are listed together under its name. */
  group?: string;
};

type SelectProps<Value extends string> = {
  value: Value | null;
  onChange: (value: Value) => void;
  options: readonly SelectOption<Value>[];
  className?: string;
  placeholder?: string;
  disabled?: boolean;
  prefix?: ReactNode;
};

/** A `Field` with a `Select`. */
export function SelectField<Value extends string>(props: SelectProps<Value> & FieldTexts) {
  const [texts, rest] = splitField(props);
  return <Field {...texts}>{(control) => <Select {...control} {...rest} />}</Field>;
}

/** A select. Give it either `aria-label` or the props of a `Field`. */
export function Select<Value extends string>({
  value,
  onChange,
  options,
  className,
  placeholder,
  disabled,
  prefix,
  id,
  "aria-label": ariaLabel,
  "aria-describedby": describedBy,
  "aria-invalid": invalid,
}: SelectProps<Value> & {
  id?: string;
  required?: boolean;
  "aria-label"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}) {
  const groups = [...new Set(options.map((option) => option.group))];
  return (
    <BaseSelect.Root
      items={options.map(({ value: item, label }) => ({ value: item, label }))}
      value={value}
      onValueChange={(next) => next !== null && onChange(next as Value)}
      disabled={disabled}
    >
      <BaseSelect.Trigger
        render={<PlainButton />}
        id={id}
        aria-label={ariaLabel}
        aria-describedby={describedBy}
        aria-invalid={invalid}
        className={classNames(controlLook, "flex h-8 w-full items-center gap-2 px-2.5 text-left", className)}
      >
        {prefix && <span className="shrink-0 text-faint [&_svg]:size-4">{prefix}</span>}
        <BaseSelect.Value placeholder={placeholder} className="min-w-0 flex-1 truncate data-placeholder:text-faint" />
        <BaseSelect.Icon className="text-faint">
          <ChevronsUpDown className="size-3.5" />
        </BaseSelect.Icon>
      </BaseSelect.Trigger>
      <BaseSelect.Portal>
        <BaseSelect.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-50 outline-none">
          <BaseSelect.Popup className="popup-motion scroll-thin max-h-[min(24rem,var(--available-height))] max-w-[var(--available-width)] min-w-[var(--anchor-width)] overflow-y-auto rounded-lg border bg-raised p-1 shadow-pop">
            {groups.map((group) => (
              <BaseSelect.Group key={group ?? ""}>
                {group && (
                  <BaseSelect.GroupLabel className="px-2 pt-2 pb-1 text-2xs font-medium text-faint">
                    {group}
                  </BaseSelect.GroupLabel>
                )}
                {options
                  .filter((option) => option.group === group)
                  .map((option) => (
                    <SelectRow key={option.value} option={option} />
                  ))}
              </BaseSelect.Group>
            ))}
          </BaseSelect.Popup>
        </BaseSelect.Positioner>
      </BaseSelect.Portal>
    </BaseSelect.Root>
  );
}

function SelectRow({ option }: { option: SelectOption<string> }) {
  return (
    <BaseSelect.Item
      value={option.value}
      className="flex min-h-7 cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm outline-none data-highlighted:bg-hover"
    >
      <span className="flex size-3.5 shrink-0 items-center">
        <BaseSelect.ItemIndicator>
          <Check className="size-3.5 text-accent-text" />
        </BaseSelect.ItemIndicator>
      </span>
      <BaseSelect.ItemText className="min-w-0 flex-1 truncate">{option.label}</BaseSelect.ItemText>
      {option.detail !== undefined && <span className="tabular pl-3 text-xs text-faint">{option.detail}</span>}
    </BaseSelect.Item>
  );
}
