import { Checkbox as BaseCheckbox } from "@base-ui/react/checkbox";
import { Switch as BaseSwitch } from "@base-ui/react/switch";
import { Check } from "lucide-react";
import type { ReactNode } from "react";

/** A checkbox with its label. A click anywhere on the row toggles it. */
export function Checkbox({
  checked,
  onChange,
  children,
  disabled,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
  disabled?: boolean;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: Base UI renders the input inside this label
    <label className="flex min-h-6 cursor-pointer items-start gap-2 text-sm">
      <BaseCheckbox.Root
        checked={checked}
        onCheckedChange={onChange}
        disabled={disabled}
        className="mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-sm border border-line-strong bg-surface transition-colors duration-100 data-checked:border-accent data-checked:bg-accent data-disabled:opacity-55"
      >
        <BaseCheckbox.Indicator className="text-on-accent">
          <Check className="size-3" strokeWidth={3} aria-hidden />
        </BaseCheckbox.Indicator>
      </BaseCheckbox.Root>
      <span className="min-w-0">{children}</span>
    </label>
  );
}

/** A switch that takes effect at once. Label it by `aria-label` or by a `label` for `id`. */
export function Switch({
  checked,
  onChange,
  disabled,
  readOnly,
  id,
  "aria-label": ariaLabel,
  "aria-describedby": describedBy,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  /** Takes no input for now, and keeps the focus, which a disabled one loses. */
  readOnly?: boolean;
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
      readOnly={readOnly}
      aria-label={ariaLabel}
      aria-describedby={describedBy}
      className="relative inline-flex h-5 w-9 shrink-0 items-center rounded-full border border-line-strong bg-sunken p-0.5 transition-colors duration-100 data-checked:border-accent data-checked:bg-accent data-disabled:opacity-55 data-readonly:opacity-55"
    >
      <BaseSwitch.Thumb className="size-3.5 rounded-full bg-line-strong transition-transform duration-150 ease-out data-checked:translate-x-4 data-checked:bg-on-accent" />
    </BaseSwitch.Root>
  );
}
