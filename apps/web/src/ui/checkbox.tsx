import { Checkbox as BaseCheckbox } from "@base-ui/react/checkbox";
import { Check } from "lucide-react";
import type { ReactNode } from "react";

/** A box to tick with its text, the whole row being the target. */
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
