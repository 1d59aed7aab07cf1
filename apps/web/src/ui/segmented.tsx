import { type ReactNode, useId } from "react";
import { Choice } from "./checkbox.tsx";
import { classNames } from "./class-names.ts";

type Option<Value extends string> = { readonly value: Value; readonly label: ReactNode };

type Group<Value extends string, Each extends Option<Value>> = {
  /** Names the group for screen readers. */
  readonly label: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly options: readonly Each[];
};

/** One of a few values, side by side. Arrow keys move between them. */
export function Segmented<Value extends string>({ label, value, onChange, options }: Group<Value, Option<Value>>) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label} className="inline-flex w-fit gap-0.5 rounded-md border bg-sunken p-0.5">
      {options.map((option) => (
        <label
          key={option.value}
          className="relative flex h-7 cursor-pointer items-center rounded-[5px] px-3 text-sm font-medium text-muted transition-colors hover:text-ink has-checked:bg-surface has-checked:text-ink has-checked:shadow-card"
        >
          <Choice
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="absolute inset-0 appearance-none rounded-[inherit]"
          />
          {option.label}
        </label>
      ))}
    </div>
  );
}

/** The same as cards, each with a text that explains it. */
export function ChoiceCards<Value extends string>({
  label,
  value,
  onChange,
  options,
  disabled = false,
  readOnly = false,
}: Group<Value, Option<Value> & { readonly description: string; readonly icon?: ReactNode }> & {
  readonly disabled?: boolean;
  /** Ignores input but keeps the focus, which a disabled control would lose. */
  readonly readOnly?: boolean;
}) {
  const name = useId();
  return (
    <div
      role="radiogroup"
      aria-label={label}
      aria-readonly={readOnly || undefined}
      className={classNames("grid gap-2", options.length > 2 ? "sm:grid-cols-3" : "sm:grid-cols-2")}
    >
      {options.map((option) => {
        const id = `${name}-${option.value}`;
        return (
          <div
            key={option.value}
            className={classNames(
              "relative flex flex-col items-start rounded-lg border bg-surface p-3 transition-colors hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft",
              readOnly && "opacity-55",
            )}
          >
            <Choice
              type="radio"
              name={name}
              aria-labelledby={`${id}-label`}
              aria-describedby={`${id}-description`}
              disabled={disabled}
              checked={option.value === value}
              onChange={() => readOnly || onChange(option.value)}
              className="absolute inset-0 appearance-none rounded-[inherit]"
            />
            <span
              id={`${id}-label`}
              className="flex items-center gap-2 text-sm font-medium [&_svg]:size-4 [&_svg]:text-accent-text"
            >
              {option.icon}
              {option.label}
            </span>
            <span id={`${id}-description`} className="mt-1 block text-xs text-pretty text-muted">
              {option.description}
            </span>
          </div>
        );
      })}
    </div>
  );
}
