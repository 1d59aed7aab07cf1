import { Check } from "lucide-react";
import { type ComponentProps, type ReactNode, useRef } from "react";
import { classNames } from "./class-names.ts";
import { useEarlyChoice } from "./early-entry.ts";

type ChoiceProps = Omit<ComponentProps<"input">, "checked" | "onChange" | "ref"> & {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
};

/**
 * A native checkbox, switch or radio button, which works before the page's script. Earlier choices are reported, too,
 * but not those that the browser restored from an earlier visit.
 */
export function Choice({ checked, onChange, className, ...rest }: ChoiceProps) {
  const element = useRef<HTMLInputElement>(null);
  useEarlyChoice(element, checked, onChange);
  return (
    <input
      {...rest}
      ref={element}
      autoComplete="off"
      checked={checked}
      onChange={({ target }) => onChange(target.checked)}
      className={classNames("peer cursor-pointer disabled:cursor-not-allowed", className)}
    />
  );
}

type CheckboxProps = {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
  disabled?: boolean;
};

/** A checkbox with its label. A click anywhere on the row toggles it. */
export function Checkbox({ checked, onChange, children, disabled }: CheckboxProps) {
  return (
    <label className="flex min-h-6 cursor-pointer items-start gap-2 text-sm">
      <span className="relative mt-0.5 flex size-4 shrink-0 items-center justify-center">
        <Choice
          checked={checked}
          onChange={onChange}
          disabled={disabled}
          type="checkbox"
          className="absolute inset-0 appearance-none rounded-sm border border-line-strong bg-surface transition-colors duration-100 checked:border-accent checked:bg-accent disabled:opacity-55"
        />
        <Check
          className="pointer-events-none invisible relative size-3 text-on-accent peer-checked:visible"
          strokeWidth={3}
        />
      </span>
      <span className="min-w-0">{children}</span>
    </label>
  );
}

type SwitchProps = {
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  /** Ignores input but keeps the focus, which a disabled control would lose. */
  readOnly?: boolean;
  id?: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
};

type SwitchFieldProps = Omit<SwitchProps, "aria-label" | "aria-describedby"> & {
  readonly id: string;
  readonly label: string;
  /** What it does. */
  readonly children: ReactNode;
};

/** A switch with its label and description. */
export function SwitchField({ id, label, children, ...control }: SwitchFieldProps) {
  return (
    <div className="flex items-start gap-3">
      <Switch {...control} id={id} aria-describedby={`${id}-hint`} />
      <div className="text-sm">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        <div id={`${id}-hint`} className="text-muted">
          {children}
        </div>
      </div>
    </div>
  );
}

/** A switch that takes effect at once. Label it by `aria-label` or by a `label` for `id`. */
export function Switch({ onChange, readOnly = false, ...rest }: SwitchProps) {
  return (
    <span className="relative inline-flex h-5 w-9 shrink-0 items-center p-[3px]">
      <Choice
        {...rest}
        type="checkbox"
        role="switch"
        aria-readonly={readOnly || undefined}
        onChange={(checked) => readOnly || onChange(checked)}
        className="absolute inset-0 appearance-none rounded-full border border-line-strong bg-sunken transition-colors duration-100 checked:border-accent checked:bg-accent disabled:opacity-55 aria-readonly:opacity-55"
      />
      <span className="pointer-events-none relative size-3.5 rounded-full bg-line-strong transition-transform duration-150 ease-out peer-checked:translate-x-4 peer-checked:bg-on-accent" />
    </span>
  );
}
