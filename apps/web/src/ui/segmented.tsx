import { Radio } from "@base-ui/react/radio";
import { RadioGroup } from "@base-ui/react/radio-group";
import type { ReactNode } from "react";

/** One of a few values, side by side. Arrow keys move between them. */
export function Segmented<Value extends string>({
  label,
  value,
  onChange,
  options,
}: {
  /** Names the group for screen readers. */
  readonly label: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly options: readonly { readonly value: Value; readonly label: ReactNode }[];
}) {
  return (
    <RadioGroup
      aria-label={label}
      value={value}
      onValueChange={(next) => onChange(next as Value)}
      className="inline-flex w-fit gap-0.5 rounded-md border bg-sunken p-0.5"
    >
      {options.map((option) => (
        <Radio.Root
          key={option.value}
          value={option.value}
          nativeButton
          render={<button type="button" />}
          className="h-7 rounded-[5px] px-3 text-sm font-medium text-muted transition-colors hover:text-ink data-checked:bg-surface data-checked:text-ink data-checked:shadow-card"
        >
          {option.label}
        </Radio.Root>
      ))}
    </RadioGroup>
  );
}
