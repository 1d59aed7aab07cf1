import {
  type ChangeEvent,
  type ComponentProps,
  type ReactNode,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from "react";
import { classNames } from "./class-names.ts";

/** Props for the control inside a `Field`: `{(control) => <Input {...control} />}`. */
type FieldControl = {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
  required: boolean | undefined;
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
  className,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  count?: number;
  max?: number;
  required?: boolean;
  optional?: boolean;
  className?: string;
  children: (control: FieldControl) => ReactNode;
}) {
  const id = useId();
  const noteId = `${id}-note`;
  const counted = count !== undefined && max !== undefined;
  const hasNote = Boolean(hint || error || counted);
  return (
    <div className={classNames("flex min-w-0 flex-col gap-1.5", className)}>
      <label htmlFor={id} className="min-h-5 self-start text-sm font-medium text-ink">
        {label}
        {optional && <span className="ml-1.5 font-normal text-faint">optional</span>}
      </label>
      {children({
        id,
        "aria-describedby": hasNote ? noteId : undefined,
        "aria-invalid": error ? true : undefined,
        required,
      })}
      {hasNote && (
        <div id={noteId} className="flex justify-between gap-4 text-xs">
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

/** Class names of text fields and selects. */
export const controlLook =
  "rounded-md border border-line-strong/70 bg-surface text-sm text-ink transition-[border-color,box-shadow] duration-100 placeholder:text-faint hover:border-line-strong focus-visible:border-focus focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-focus/60 disabled:cursor-not-allowed disabled:bg-sunken disabled:text-muted aria-invalid:border-bad";

/** A value as a one-line field shows it: without line breaks, which the state that it comes from keeps. */
const asShown = (value: string) => value.replaceAll(/[\r\n]/g, "");

/**
 * A one-line text field. `Field` gives it a label, hint and error. What was typed or filled in before the page's script
 * ran is told to `onChange`.
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the script takes over the field
  useLayoutEffect(() => {
    const target = element.current;
    if (!target || typeof rest.value !== "string" || target.value === asShown(rest.value)) return;
    rest.onChange?.({ target, currentTarget: target } as ChangeEvent<HTMLInputElement>);
  }, []);
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

/** A multi-line text field. */
export function Textarea({ className, mono = false, ...rest }: ComponentProps<"textarea"> & { mono?: boolean }) {
  return (
    <textarea
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
