import { type ChangeEvent, type ComponentProps, type ReactNode, useId, useImperativeHandle, useRef } from "react";
import { classNames } from "./class-names.ts";
import { controlLook } from "./control-look.ts";
import { useEarlyText, useTextBeforeHydration } from "./early-entry.ts";

/** Props for the control inside a `Field`: `{(control) => <Input {...control} />}`. */
type FieldControl = {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
  required: boolean | undefined;
};

export type FieldTexts = {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  count?: number;
  max?: number;
  required?: boolean;
  optional?: boolean;
  fieldClassName?: string;
};

/**
 * A labelled control with a hint or error and, given `count` and `max`, a `19/32 characters` counter (ONB-11). The error
 * replaces the hint, so that the layout shifts as little as possible, and is announced to screen readers.
 */
export function Field({
  label,
  hint,
  error,
  count,
  max,
  required,
  optional,
  fieldClassName,
  children,
}: FieldTexts & { children: (control: FieldControl) => ReactNode }) {
  const id = useId();
  const hintId = `${id}-hint`;
  const counted = count !== undefined && max !== undefined;
  const hasHint = Boolean(hint || error || counted);
  return (
    <div className={classNames("flex min-w-0 flex-col gap-1.5", fieldClassName)}>
      <label htmlFor={id} className="min-h-5 self-start text-sm font-medium text-ink">
        {label}
        {optional && <span className="ml-1.5 font-normal text-faint">optional</span>}
      </label>
      {children({
        id,
        "aria-describedby": hasHint ? hintId : undefined,
        "aria-invalid": error ? true : undefined,
        required,
      })}
      {hasHint && (
        <div id={hintId} className="flex justify-between gap-4 text-xs">
          <span aria-live="polite" className={classNames("min-w-0 break-words", error ? "text-bad" : "text-muted")}>
            {error || hint}
          </span>
          {counted && (
            <span className={classNames("tabular shrink-0", count > max ? "text-bad" : "text-faint")}>
              {count}/{max} characters
            </span>
          )}
        </div>
      )}
    </div>
  );
}

/**
 * A one-line text field. `Field` gives it a label, hint and error. `onChange` also gets input from before the page's
 * script ran.
 */
export function Input({
  className,
  mono = false,
  leading,
  trailing,
  ref,
  ...rest
}: ComponentProps<"input"> & { mono?: boolean; leading?: ReactNode; trailing?: ReactNode }) {
  const element = useRef<HTMLInputElement>(null);
  useImperativeHandle(ref, () => element.current as HTMLInputElement, []);
  useEarlyText(element, rest.value, (target) =>
    rest.onChange?.({ target, currentTarget: target } as ChangeEvent<HTMLInputElement>),
  );
  const input = (
    <input
      ref={element}
      className={classNames(
        controlLook,
        "h-8 w-full px-2.5",
        mono && "font-mono text-xs",
        leading && "pl-8",
        trailing && "pr-9",
        className,
      )}
      {...rest}
    />
  );
  if (!leading && !trailing) return input;
  return (
    <span className="relative block w-full">
      {leading && (
        <span className="pointer-events-none absolute inset-y-0 left-2.5 flex items-center text-faint [&_svg]:size-4">
          {leading}
        </span>
      )}
      {input}
      {trailing && <span className="absolute inset-y-0 right-1 flex items-center">{trailing}</span>}
    </span>
  );
}

/** A multi-line text field, which reports early input like `Input`. */
export function Textarea({
  className,
  mono = false,
  ...rest
}: Omit<ComponentProps<"textarea">, "ref"> & { mono?: boolean }) {
  const element = useRef<HTMLTextAreaElement>(null);
  useEarlyText(
    element,
    rest.value,
    (target) => rest.onChange?.({ target, currentTarget: target } as ChangeEvent<HTMLTextAreaElement>),
    useTextBeforeHydration(rest.id),
  );
  return (
    <textarea
      ref={element}
      className={classNames(
        controlLook,
        "scroll-thin block min-h-20 w-full resize-y px-2.5 py-1.5",
        mono && "font-mono text-xs leading-5",
        className,
      )}
      spellCheck={mono ? false : undefined}
      {...rest}
    />
  );
}

/** Props of a field with its control: the texts, and the control's props. */
export type FieldOf<Control> = FieldTexts & Omit<Control, keyof FieldTexts | keyof FieldControl | "onChange">;

/** Separates the texts of a field from the props of its control. */
export function splitField<Props extends FieldTexts>(props: Props) {
  const { label, hint, error, count, max, required, optional, fieldClassName, ...control } = props;
  return [{ label, hint, error, count, max, required, optional, fieldClassName }, control] as const;
}

type OnText = { onChange?: (text: string) => void };

/** A `Field` with an `Input`. */
export function TextField({ onChange, ...props }: FieldOf<ComponentProps<typeof Input>> & OnText) {
  const [texts, rest] = splitField(props);
  return (
    <Field {...texts}>
      {(control) => <Input {...control} {...rest} onChange={({ target }) => onChange?.(target.value)} />}
    </Field>
  );
}

/** A `Field` with a `Textarea`. */
export function TextareaField({ onChange, ...props }: FieldOf<ComponentProps<typeof Textarea>> & OnText) {
  const [texts, rest] = splitField(props);
  return (
    <Field {...texts}>
      {(control) => <Textarea {...control} {...rest} onChange={({ target }) => onChange?.(target.value)} />}
    </Field>
  );
}
