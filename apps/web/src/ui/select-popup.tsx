import { Select as BaseSelect } from "@base-ui/react/select";
import { Check, ChevronsUpDown } from "lucide-react";
import { useLayoutEffect, useRef } from "react";
import { PlainButton } from "./button.tsx";
import { type SelectOption, type SelectProps, selectLook } from "./select-parts.ts";

/** A select that has been opened, in place of its button. */
export function OpenedSelect<Value extends string>({
  value,
  onChange,
  options,
  className,
  placeholder,
  disabled,
  prefix,
  required: _required,
  ...labels
}: SelectProps<Value>) {
  const trigger = useRef<HTMLButtonElement>(null);
  // Before the popup takes the focus, which it gives back to the focused element.
  useLayoutEffect(() => trigger.current?.focus(), []);
  const groups = [...new Set(options.map((option) => option.group))];
  return (
    <BaseSelect.Root
      defaultOpen
      items={options.map(({ value: item, label }) => ({ value: item, label }))}
      value={value}
      onValueChange={(next) => next !== null && onChange(next as Value)}
      disabled={disabled}
    >
      <BaseSelect.Trigger ref={trigger} render={<PlainButton />} className={selectLook(className)} {...labels}>
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
