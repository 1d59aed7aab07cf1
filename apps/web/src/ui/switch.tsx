import { Switch as BaseSwitch } from "@base-ui/react/switch";

/** On or off, at once. Name it by `aria-label` or by a `label` that points to `id`. */
export function Switch({
  checked,
  onChange,
  disabled,
  id,
  "aria-label": ariaLabel,
  "aria-describedby": describedBy,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  id?: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
}) {
  return (
    <BaseSwitch.Root
      id={id}
      checked={checked}
      onCheckedChange={onChange}
      disabled={disabled}
      aria-label={ariaLabel}
      aria-describedby={describedBy}
      className="relative inline-flex h-5 w-9 shrink-0 items-center rounded-full border border-line-strong bg-sunken p-0.5 transition-colors duration-100 data-checked:border-accent data-checked:bg-accent data-disabled:opacity-55"
    >
      <BaseSwitch.Thumb className="size-3.5 rounded-full bg-line-strong transition-transform duration-150 ease-out data-checked:translate-x-4 data-checked:bg-on-accent" />
    </BaseSwitch.Root>
  );
}
